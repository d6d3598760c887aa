// This version and the commit that it was built from: put in by the build; in a checkout the version is read from package.json.
import { readFileSync } from 'node:fs'

declare const __WARPWATCH_VERSION__: string | undefined
declare const __WARPWATCH_COMMIT__: string | undefined

function fromPackage(): string {
  const found: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  if (typeof found === 'object' && found !== null && 'version' in found && typeof found.version === 'string') return found.version
  throw new Error('package.json has no version. Install Warpwatch again')
}

export const VERSION: string = typeof __WARPWATCH_VERSION__ === 'string' ? __WARPWATCH_VERSION__ : fromPackage()

/** Abbreviated to 12 digits; `unknown` where the build had neither a repository nor SOURCE_COMMIT. */
export const COMMIT: string = typeof __WARPWATCH_COMMIT__ === 'string' ? __WARPWATCH_COMMIT__ : 'unknown'
/** Of the Node that runs this, such as 24.21.0. */
export const NODE_VERSION: string = process.versions.node
