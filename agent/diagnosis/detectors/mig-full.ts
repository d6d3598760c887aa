// A MIG instance that is full, so that programs in it are refused memory, while the card's other instances have plenty.
import { gpuMemoryFreeBytes, gpuMemoryTotalBytes, gpuMemoryUsedBytes } from '../../metrics/gpu-memory.ts'
import { allocatorOomsTotal, allocatorRetriesTotal } from '../../metrics/process.ts'
import type { TypedFinding } from '../../model/finding.ts'
import { gib } from '../../text/bytes.ts'
import { percent } from '../../text/figures.ts'
import { defineDetector } from './definition.ts'
import { createGpuRows, gpuText, metricsOf } from './parts/gpu-rows.ts'
import { createHold } from './parts/hold.ts'
import { createPerGpu, createFindingDeduper } from './parts/per-gpu.ts'
import { createRise } from './parts/rise.ts'
import { processText } from './parts/who.ts'

const COLUMNS = { total: { metric: gpuMemoryTotalBytes.name } }
const [TOTAL, USED] = [gpuMemoryTotalBytes.name, gpuMemoryUsedBytes.name]
/** A full instance alone may be a server that takes all memory at its start: these show that a process asked for more. */
const REFUSALS = [allocatorRetriesTotal.name, allocatorOomsTotal.name] as const
const WINDOW_MS = 600_000

type Instance = { total: number | undefined; used: number | undefined; fullT: number | undefined; refusals: number; users: Set<string> }

export const migFull = defineDetector({
  id: 'mig-full',
  kinds: ['mig_full'],
  title: 'A MIG instance is full while the card has free memory',
  severity: 'warning',
  watches: [...new Set([...metricsOf(COLUMNS), TOTAL, USED, ...REFUSALS])],
  everyMs: 10_000,
  options: {
    full_ratio: { default: 0.95, min: 0.5, max: 1, help: 'Share of the instance in use from which on it is full.' },
    free_ratio: { default: 0.25, min: 0.05, max: 0.95, help: 'Share of the card that must be free in other instances.' },
    refusals: { default: 1, min: 1, max: 100_000, help: 'Requests refused within ten minutes (flushes of the cache, or errors).' },
  },
  expression: {
    promql: `max by (gpu, uuid, gi) (max_over_time(${gpuMemoryUsedBytes.name}{gi!=""}[10m])) >= 0.95 * max by (gpu, uuid, gi) (${gpuMemoryTotalBytes.name}{gi!=""})
and on (gpu, uuid, gi) sum by (gpu, uuid, gi) (increase(${allocatorRetriesTotal.name}{gi!=""}[10m])) > 0
and on (gpu, uuid) sum by (gpu, uuid) (${gpuMemoryFreeBytes.name}{gi!=""}) - on (gpu, uuid) min by (gpu, uuid) (${gpuMemoryFreeBytes.name}{gi!=""}) >= on (gpu, uuid) 0.25 * max by (gpu, uuid) (${gpuMemoryTotalBytes.name}{gi=""})`,
  },
  create(options, { present }) {
    const rows = createGpuRows(present, COLUMNS)
    const cards = createPerGpu(() => new Map<string, Instance>())
    const states = createPerGpu((key) => ({
      hold: createHold({ forMs: 0, clearMs: 60_000 }),
      deduper: createFindingDeduper({ kind: 'mig_full', key, about: { uuid: key.split(' ')[0] ?? '' } }),
    }))
    const rises = createPerGpu(() => createRise(WINDOW_MS))
    const instanceOf = (uuid: string, gi: string): Instance => {
      const card = cards.of(uuid)
      let found = card.get(gi)
      if (found === undefined) card.set(gi, (found = { total: undefined, used: undefined, fullT: undefined, refusals: 0, users: new Set() }))
      return found
    }

    return {
      judge(t) {
        const found: TypedFinding[] = []
        const uuids = new Set<string>()
        for (const metric of [TOTAL, USED]) {
          for (const { series, value } of present.of(metric)) {
            const { uuid = '', gi } = series.labels
            if (gi === undefined) continue
            const instance = instanceOf(uuid, gi)
            if (!uuids.has(uuid)) for (const each of cards.of(uuid).values()) [each.total, each.used, each.refusals] = [undefined, undefined, 0]
            uuids.add(uuid)
            if (metric === TOTAL) instance.total = value
            else instance.used = value
          }
        }
        if (uuids.size === 0) return found
        for (const metric of REFUSALS) {
          for (const { series, value } of present.of(metric)) {
            const { uuid = '', gi, pid, process, container } = series.labels
            if (gi === undefined || !uuids.has(uuid)) continue
            const risen = rises.of(`${metric} ${uuid} ${gi} ${pid}`).see(t, value) ?? 0
            if (risen === 0) continue
            const instance = instanceOf(uuid, gi)
            instance.refusals += risen
            instance.users.add(processText({ pid: Number(pid), process, container }))
          }
        }
        const all = rows.read()
        for (const uuid of uuids) {
          const row = all.get(uuid)
          const instances = cards.of(uuid)
          for (const [gi, instance] of instances) {
            const { total, used } = instance
            const key = `${uuid} ${gi}`
            const state = states.of(key)
            const card = row?.now.total
            // Nothing has no share.
            if (total === undefined || used === undefined || card === undefined || row === undefined || total <= 0 || card <= 0) {
              state.hold.see(t, undefined)
              continue
            }
            if (used >= options.full_ratio * total) instance.fullT = t
            let free = 0
            for (const [other, { total: size, used: taken }] of instances) if (other !== gi && size !== undefined && taken !== undefined) free += size - taken
            const full = instance.fullT !== undefined && t - instance.fullT <= WINDOW_MS
            const faulty = full && instance.refusals >= options.refusals && free >= options.free_ratio * card
            const held = state.hold.see(t, faulty)
            if (!faulty) instance.users.clear()
            if (held === 'healthy') state.deduper.healthy(found, 'no process in it is refused memory any more, or the card has no free memory either')
            else if (held === 'faulty') {
              const users = [...instance.users].slice(0, 3)
              state.deduper.faulty(found, {
                kind: 'mig_full',
                key,
                about: { uuid },
                state: 'faulty',
                severity: 'warning',
                title: `GPU ${row.index}: MIG instance ${gi} is full, while ${gib(free)} of the card are free in others`,
                verdict: `MIG instance ${gi} of ${gpuText(row)} is full (${gib(used)} of ${gib(total)}), and ${users.join(', ')} ${users.length === 1 ? 'was' : 'were'} refused memory ${instance.refusals} times in ten minutes. The other instances have ${gib(free)} (${percent(free / card)} of the card) free, which a program in this one can never use.`,
                facts: {
                  mig_instance: gi,
                  used_bytes: used,
                  total_bytes: total,
                  free_bytes: free,
                  retries: instance.refusals,
                  jobs: users,
                },
                remedies: [
                  { text: 'Move the job into a larger instance, or one that is empty.', command: `nvidia-smi -L; nvidia-smi mig -lgi -i ${row.index}` },
                  {
                    text: 'Or repartition the GPU (MIG) while it is unused: fewer and larger instances.',
                    command: `sudo nvidia-smi mig -dci -i ${row.index}; sudo nvidia-smi mig -dgi -i ${row.index}; sudo nvidia-smi mig -lgip -i ${row.index}`,
                  },
                  { text: 'Or let the job need less: a smaller batch, or a cap by torch.cuda.set_per_process_memory_fraction.' },
                ],
              })
            }
          }
        }
        return found
      },
    }
  },
})
