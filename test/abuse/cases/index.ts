// Every case of the abuse suite: one file, one line.
export { mutatedInputs } from './mutated-inputs.ts'
export { plantedSecrets } from './planted-secrets.ts'
export { probeEnds } from './probe-ends.ts'
export { unknownPaths } from './unknown-paths.ts'
