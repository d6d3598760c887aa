// Compares each reading with nvidia-smi: asked before and after ours, it must agree within what a GPU does in between.
import { execFileSync } from 'node:child_process'
import { COMPARISONS, IDENTITY } from './fields.ts'
import type { Sampler } from './sampler.ts'

export type Verdict = { readonly gpu: string; readonly field: string; readonly ours: string; readonly theirs: string; readonly agrees: boolean }

const run = (command: string, args: readonly string[]): string => execFileSync(command, args, { encoding: 'utf8', timeout: 60_000 })

/** What nvidia-smi prints where it has no number. */
const number = (text: string): number | undefined => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined)

/** One row of fields per GPU; only fields that this nvidia-smi knows, since one unknown field makes the whole call fail. */
export function smi(command: string, fields: readonly string[]): readonly ReadonlyMap<string, string>[] {
  const known = new Set(Array.from(run(command, ['--help-query-gpu']).matchAll(/"([\w.]+)"/g), (match) => match[1] ?? ''))
  const asked = fields.filter((field) => known.has(field))
  return run(command, [`--query-gpu=${asked.join(',')}`, '--format=csv,noheader,nounits'])
    .trim()
    .split('\n')
    .map((line) => new Map(line.split(', ').map((text, at) => [asked[at] ?? '', text.trim()])))
}

const FIELDS = ['uuid', ...IDENTITY.map(({ field }) => field), ...COMPARISONS.flatMap(({ field, older }) => (older === undefined ? [field] : [field, older]))]

function round(command: string, before: ReturnType<typeof smi>, look: Awaited<ReturnType<Sampler['look']>>): readonly Verdict[] {
  const after = smi(command, FIELDS)
  const verdicts: Verdict[] = []
  for (const row of before) {
    const uuid = row.get('uuid') ?? ''
    const later = after.find((entry) => entry.get('uuid') === uuid)
    const mine = look.readings.filter((reading) => reading.labels['uuid'] === uuid && reading.labels['gi'] === undefined)
    const gpu = mine[0]?.labels['gpu'] ?? '?'
    const info = mine.find((reading) => reading.metric === 'warpwatch_gpu_info')?.labels ?? {}
    for (const { field, label } of IDENTITY) {
      const theirs = row.get(field)
      if (theirs === undefined) continue
      const ours = info[label] ?? ''
      verdicts.push({ gpu, field, ours, theirs, agrees: ours === theirs || (ours === '' && /^\[?N\/A\]?$|^0$/.test(theirs)) })
    }
    for (const { field: newer, older, metric, labels = {}, scale, slack } of COMPARISONS) {
      const field = row.has(newer) || older === undefined ? newer : older
      const texts = [row.get(field), later?.get(field)].filter((text) => text !== undefined)
      if (texts.length === 0) continue
      const theirs = texts.map(number).filter((value) => value !== undefined)
      const reading = mine.find((entry) => entry.metric === metric && Object.entries(labels).every(([name, value]) => entry.labels[name] === value))
      const value = reading === undefined ? undefined : reading.value * scale
      // What nvidia-smi cannot tell must be a gap here, never a number, and the other way round.
      const agrees =
        value === undefined || theirs.length === 0
          ? value === undefined && theirs.length === 0
          : value >= Math.min(...theirs) - slack && value <= Math.max(...theirs) + slack
      verdicts.push({ gpu, field, ours: value === undefined ? 'gap' : value.toFixed(2), theirs: texts.join(' … '), agrees })
    }
  }
  return verdicts
}

/** Looks several times: what disagrees each time disagrees. */
export async function compareWithSmi(sampler: Sampler, command = 'nvidia-smi', rounds = 5): Promise<readonly Verdict[]> {
  const best = new Map<string, Verdict>()
  for (let at = 0; at < rounds; at++) {
    const before = smi(command, FIELDS)
    for (const verdict of round(command, before, await sampler.look())) {
      const key = `${verdict.gpu} ${verdict.field}`
      if (best.get(key)?.agrees !== true) best.set(key, verdict)
    }
    if ([...best.values()].every((verdict) => verdict.agrees)) break
  }
  return [...best.values()]
}
