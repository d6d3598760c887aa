// Every case of the abuse suite: one file, one line.
export { unknownPaths } from './unknown-paths.ts'
export { httpMatrix } from './http-matrix.ts'
