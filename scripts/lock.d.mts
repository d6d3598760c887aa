// Types of lock.mjs for the tests.
export declare const withLock: <T>(name: string, waiting: () => void, work: () => Promise<T>) => Promise<T>
