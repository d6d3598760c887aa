// This version: put in by the build, read from package.json in a checkout.
import { readFileSync } from 'node:fs'

declare const __WARPWATCH_VERSION__: string | undefined

function fromPackage(): string {
  const found: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  if (typeof found === 'object' && found !== null && 'version' in found && typeof found.version === 'string') return found.version
  throw new Error('package.json: expected a version, came none')
}

export const VERSION: string = typeof __WARPWATCH_VERSION__ === 'string' ? __WARPWATCH_VERSION__ : fromPackage()
