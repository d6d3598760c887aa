// The registry of checks, by what they look at; a check is one file and one line in the index of its folder. They are reported by group, within a group by name.
export * from './host/index.ts'
export * from './toolkit/index.ts'
export * from './container/index.ts'
export * from './wsl2/index.ts'
export * from './compose/index.ts'
