// Reads `nvidia-smi -L`, the only output with the UUIDs of MIG devices.
import type { ParsedGpu } from './gpu.ts'

export type ListedMig = { readonly profile: string; readonly index: number; readonly uuid: string }
export type ListedGpu = { readonly index: number; readonly name: string; readonly uuid: string; readonly migs: readonly ListedMig[] }

const GPU = /^GPU (\d{1,4}): (.*) \(UUID: ([^()\s]{1,96})\)$/
const MIG = /^\s+MIG (\S+)\s+Device\s+(\d{1,4}): \(UUID: ([^()\s]{1,96})\)$/

/** undefined when a line is none of the two kinds. */
export function readList(text: string): readonly ListedGpu[] | undefined {
  const gpus: (ListedGpu & { readonly migs: ListedMig[] })[] = []
  for (const raw of text.split('\n')) {
    const line = raw.trimEnd()
    if (line === '') continue
    const gpu = GPU.exec(line)
    const mig = MIG.exec(line)
    const last = gpus.at(-1)
    if (gpu?.[1] !== undefined && gpu[2] !== undefined && gpu[3] !== undefined) gpus.push({ index: Number(gpu[1]), name: gpu[2], uuid: gpu[3], migs: [] })
    else if (last !== undefined && mig?.[1] !== undefined && mig[2] !== undefined && mig[3] !== undefined)
      last.migs.push({ profile: mig[1], index: Number(mig[2]), uuid: mig[3] })
    else return undefined
  }
  return gpus
}

/** In the form of the other parsers; a MIG device's instance ids are not in this output, so its migs stay with `readList`. */
export const gpusFromList = (listed: readonly ListedGpu[]): readonly ParsedGpu[] =>
  listed.map(({ index, name, uuid }) => ({ index, name, uuid, values: new Map(), missing: new Map(), migs: [] }))
