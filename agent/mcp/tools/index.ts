// The tools for assistants: one line each.
export { hosts } from './hosts.ts'
export { gpus } from './gpus.ts'
export { jobs } from './jobs.ts'
export { why } from './why.ts'
export { history } from './history.ts'
export { fit } from './fit.ts'
export { doctor } from './doctor.ts'
export { servers } from './servers.ts'
