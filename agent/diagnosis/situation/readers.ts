// Readers of the situation: one concern each, one line here. Each is a pure function of the text, with linear patterns only.
export { programs } from './programs.ts'
export { gaming, hosted, jetson, notebook, system, vendor } from './platform.ts'
export { settings } from './settings.ts'
export { subject } from './subject.ts'
export { versions } from './versions.ts'
export { distributed, training } from './work.ts'
