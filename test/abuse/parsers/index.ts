// Every reader of outside bytes, by group: a new one is one entry in its group's file.
export * from './files.ts'
export * from './gpu.ts'
export * from './http.ts'
export * from './logs.ts'
export * from './snapshots.ts'
export * from './streams.ts'
export * from './system.ts'
