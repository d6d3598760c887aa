// The dashboards: one line each.
export { agent } from './agent.ts'
export { allocator } from './allocator.ts'
export { container } from './container.ts'
export { fleet } from './fleet.ts'
export { gpu } from './gpu.ts'
export { host } from './host.ts'
export { incidents } from './incidents.ts'
