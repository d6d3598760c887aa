// Prints what the built agent is made of as a CycloneDX document: npm's own list without what only builds and tests. node scripts/sbom.mjs > warpwatch.cdx.json
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { wantedArchitecture } from './architecture.mjs'
import { shippedPackages } from './licences.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const npm = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm']
const [command, ...before] = npm
const listed = JSON.parse(
  execFileSync(command, [...before, 'sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--prefix', root], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    stdio: ['ignore', 'pipe', 'inherit'],
  }),
)
const own = `${name}@${version}`
const shipped = new Set([
  own,
  ...shippedPackages(root, wantedArchitecture()).map(([path, { version: found }]) => `${path.replace(/^.*node_modules\//, '')}@${found}`),
])
/** Two copies of one version are one component, `NAME@VERSION|PATH` to npm. */
const isShipped = (ref) => shipped.has(ref.split('|')[0])

// Without the serial number and the time of npm's list: the same lock file gives the same document.
const { serialNumber: _, ...head } = listed
const document = {
  ...head,
  metadata: { tools: listed.metadata.tools, component: { ...listed.metadata.component, name, type: 'application' } },
  // What is in the dashboard's files is a development package to npm only.
  components: listed.components
    .filter((component) => isShipped(component['bom-ref']))
    .map((component) => ({ ...component, scope: 'required', properties: component.properties?.filter((property) => !property.name.endsWith(':development')) })),
  dependencies: listed.dependencies.filter(({ ref }) => isShipped(ref)).map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isShipped) })),
}
process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
