// Every case of the abuse suite: one file, one line.
export { probeEnds } from './probe-ends.ts'
export { unknownPaths } from './unknown-paths.ts'
