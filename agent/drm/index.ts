// The registry of makers whose cards are read from the kernel's files: one folder and one line each.
export { amd } from './amd/index.ts'
export { intel } from './intel/index.ts'
export { jetson } from './jetson/index.ts'
