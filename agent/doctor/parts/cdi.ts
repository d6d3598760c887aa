// CDI specifications (github.com/cncf-tags/container-device-interface): how engines learn which files make a GPU, and whether those are still there.
import * as z from 'zod/mini'
import { parseYaml } from '../../lib/yaml-document.ts'
import { firstLineOf } from '../../text/error.ts'
import type { DoctorContainer } from './containers.ts'
import type { HostFiles } from './host-files.ts'

export const CDI_FOLDERS = ['/etc/cdi', '/var/run/cdi'] as const

const edits = z.object({
  deviceNodes: z.nullish(z.array(z.object({ path: z.string(), hostPath: z.nullish(z.string()) }))),
  mounts: z.nullish(z.array(z.object({ hostPath: z.string() }))),
  hooks: z.nullish(z.array(z.object({ path: z.string() }))),
})
const schema = z.object({
  cdiVersion: z.string(),
  kind: z.string(),
  devices: z.array(z.object({ name: z.union([z.string(), z.number()]), containerEdits: z.nullish(edits) })),
  containerEdits: z.nullish(edits),
})

export type CdiSpec = {
  readonly path: string
  /** Why it cannot be used. */
  readonly problem?: string
  readonly kind: string
  readonly devices: readonly string[]
  /** Files of the host that it names: device nodes, libraries, hooks. */
  readonly hostPaths: readonly string[]
}

export function parseCdiSpec(path: string, text: string): CdiSpec {
  const failed = (problem: string): CdiSpec => ({ path, problem, kind: '', devices: [], hostPaths: [] })
  // JSON is YAML too.
  const { document, problems } = parseYaml(text, { logLevel: 'silent' })
  const [problem] = problems
  if (problem !== undefined) return failed(`line ${problem.line}: ${problem.text}`)
  let value: unknown
  try {
    value = document?.toJS({ maxAliasCount: 100 })
  } catch (error) {
    return failed(firstLineOf(error))
  }
  const checked = schema.safeParse(value)
  if (!checked.success) return failed('expected cdiVersion, kind and devices')
  const { kind, devices, containerEdits } = checked.data
  const all = [containerEdits, ...devices.map((device) => device.containerEdits)]
  const hostPaths = all.flatMap((edit) => [
    ...(edit?.deviceNodes ?? []).map(({ path: inside, hostPath }) => hostPath ?? inside),
    ...(edit?.mounts ?? []).map(({ hostPath }) => hostPath),
    ...(edit?.hooks ?? []).map(({ path: hook }) => hook),
  ])
  return { path, kind, devices: devices.map(({ name }) => String(name)), hostPaths: [...new Set(hostPaths)].filter((one) => one.startsWith('/')) }
}

const MAX_SPEC = 2 * 2 ** 20

/** Those for NVIDIA's GPUs, and those that cannot be read. */
export async function readCdiSpecs(files: HostFiles, folders: readonly string[]): Promise<readonly CdiSpec[]> {
  const specs: CdiSpec[] = []
  for (const folder of folders) {
    for (const name of (await files.list(folder)) ?? []) {
      if (!/\.(ya?ml|json)$/.test(name)) continue
      const text = await files.readText(`${folder}/${name}`, MAX_SPEC + 1)
      if (text === undefined) continue
      const spec =
        text.length > MAX_SPEC ? { ...parseCdiSpec('', ''), path: `${folder}/${name}`, problem: 'it is too large' } : parseCdiSpec(`${folder}/${name}`, text)
      if (spec.kind === 'nvidia.com/gpu' || (spec.problem !== undefined && /nvidia/i.test(name))) specs.push(spec)
    }
  }
  return specs
}

/** What a specification names and the host has not: it was written for another driver, or before a GPU went. */
export async function missingPaths(files: HostFiles, spec: CdiSpec): Promise<readonly string[]> {
  const there = await Promise.all(spec.hostPaths.map(async (path) => await files.exists(path)))
  return spec.hostPaths.filter((_, at) => there[at] === false)
}

/** Names such as `nvidia.com/gpu=0` by which a container was given GPUs. */
export const cdiNames = ({ wish }: DoctorContainer): readonly string[] =>
  [...wish.requests.flatMap(({ ids }) => ids), ...wish.devicePaths].filter((name) => /^(?:[\w.]+\.)?nvidia\.com\/gpu=/.test(name))
