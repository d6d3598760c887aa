// Every kind of incident, in the order of lists and of pages: those that logs show first.
export * from './from-logs.ts'
export * from './from-numbers.ts'
