// Who speaks: the resource attributes of everything that is sent over OTLP.
import { createHash, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resourceFromAttributes, type Resource } from '@opentelemetry/resources'
import { VERSION } from '../../lib/version.ts'

export type { Resource }

/** The version of the conventions that the names were taken from. */
const SCHEMA = 'https://opentelemetry.io/schemas/1.44.0'
export const SCOPE = { name: 'warpwatch', version: VERSION, schemaUrl: SCHEMA }

/** Given by the conventions for `service.instance.id` out of an id of one's own. */
const INSTANCE_NAMESPACE = '4d63009a-8d0f-11ee-aad7-4c796ed8e320'

export type ResourceOptions = {
  readonly hostname: string
  readonly procRoot: string
  readonly dataDir: string
  readonly extra: Readonly<Record<string, string>>
}

/** That of the host, also for an agent in a container with the host's processes. */
function machineId(procRoot: string): string | undefined {
  for (const path of [`${procRoot}/1/root/etc/machine-id`, '/etc/machine-id', '/var/lib/dbus/machine-id']) {
    try {
      const id = readFileSync(path, 'utf8').trim()
      if (/^[0-9a-f]{32}$/.test(id)) return id
    } catch {
      // Not there, or not ours to read: the next one.
    }
  }
  return undefined
}

/** RFC 9562, version 5. */
function uuidOf(name: string): string {
  const hash = createHash('sha1')
    .update(Buffer.from(INSTANCE_NAMESPACE.replaceAll('-', ''), 'hex'))
    .update(name)
    .digest()
    .subarray(0, 16)
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6)
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8)
  return hash.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** What the user sets goes before what was found. */
export function createResource({ hostname, procRoot, dataDir, extra }: ResourceOptions): Resource {
  const id = machineId(procRoot)
  const found = {
    'service.name': 'warpwatch',
    'service.version': VERSION,
    // One data directory, one agent; without a machine id it is another one after each start.
    'service.instance.id': id === undefined ? randomUUID() : uuidOf(`${id} ${dataDir}`),
    'host.name': hostname,
    ...(id === undefined ? {} : { 'host.id': id }),
  }
  return resourceFromAttributes({ ...found, ...extra }, { schemaUrl: SCHEMA })
}
