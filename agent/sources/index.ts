// The registry of sources: a new one is one file and one line here.
export { agentSelf } from './agent-self.ts'
export { containers } from './containers.ts'
export { gpu } from './gpu.ts'
export { host } from './host.ts'
export { nvidiaSmi } from './nvidia-smi.ts'
export { simulated } from './simulated.ts'
