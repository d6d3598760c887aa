// Types of fingerprint.mjs for the tests.
export declare const isBuilt: (root: string) => boolean
