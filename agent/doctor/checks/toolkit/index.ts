// Checks of the NVIDIA Container Toolkit and the engine: one line each.
export { toolkitInstalled } from './installed.ts'
export { toolkitRuntime } from './runtime.ts'
export { toolkitSettings } from './settings.ts'
export { cdiSpecification } from './cdi-specification.ts'
export { daemonReload } from './daemon-reload.ts'
export { engineConfinement } from './engine-confinement.ts'
