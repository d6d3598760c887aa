// Where the sampler child's program lies: beside the bundles in the build, in this folder in a checkout.
import { join } from 'node:path'

const built = !import.meta.url.endsWith('.ts')

export const CHILD_ENTRY = join(import.meta.dirname, built ? 'sampler-child.js' : 'child-main.ts')
