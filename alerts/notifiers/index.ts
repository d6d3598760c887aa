// The registry of notifiers: one line each. It is read with `import * as`.
export { alertmanager } from './alertmanager.ts'
export { email } from './email.ts'
export { ntfy } from './ntfy.ts'
export { slack } from './slack.ts'
export { telegram } from './telegram.ts'
export { template } from './template.ts'
export { webhook } from './webhook.ts'
