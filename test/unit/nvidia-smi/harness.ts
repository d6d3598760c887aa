// Runs the nvidia-smi source against the fake executable: ticks come from the test, events are waited for.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as collectors from '../../../agent/collectors/index.ts'
import type { Event, Scrape } from '../../../agent/model/event.ts'
import type { IdentifyProcess } from '../../../agent/model/identity.ts'
import { createNvidiaSmiSource } from '../../../agent/sources/nvidia-smi/source.ts'
import type { NvidiaSmiOptions } from '../../../agent/sources/nvidia-smi/source.ts'

const metrics = Object.values(collectors).flatMap((collector) => collector.metrics)
const identify: IdentifyProcess = (pid) => ({ pid, startTicks: 1, name: `process-${pid}` })

export type Harness = {
  readonly command: string
  readonly logs: readonly string[]
  /** Writes a file beside the fake (see its head for their names); undefined removes it. */
  readonly put: (name: string, text: string | undefined) => void
  /** Pids of all runs so far. */
  readonly runs: () => readonly number[]
  /** The source's next tick, one second later than the last unless told. */
  readonly tick: (laterMs?: number) => void
  /** The next scrape of the group that is not looked at yet. */
  readonly next: (group?: string) => Promise<Scrape>
  readonly scrapes: (group?: string) => readonly Scrape[]
  readonly stop: () => Promise<void>
}

export async function startHarness(options: Partial<NvidiaSmiOptions> & { readonly files?: Readonly<Record<string, string>> } = {}): Promise<Harness> {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-smi-'))
  const command = join(folder, 'nvidia-smi')
  cpSync(join(import.meta.dirname, '../../fakes/nvidia-smi/nvidia-smi'), command)
  const put = (name: string, text: string | undefined): void =>
    text === undefined ? rmSync(join(folder, name), { force: true }) : writeFileSync(join(folder, name), text)
  for (const [name, text] of Object.entries(options.files ?? {})) put(name, text)
  const events: Scrape[] = []
  const read = new Map<string, number>()
  const wake = new Set<() => void>()
  const logs: string[] = []
  const source = createNvidiaSmiSource({ commands: [command], identify, metrics, ...options })
  let run: (t: number) => void | Promise<void> = () => {}
  let t = Date.now()
  const log = (text: string): void => void logs.push(text)
  await source.start({
    log: { info: log, warn: log, error: log },
    every: (_, task) => {
      run = task
      return () => {}
    },
    emit: (event: Event) => {
      if (event.type === 'scrape') events.push(event)
      for (const each of wake) each()
    },
  })
  const scrapes = (group = ''): readonly Scrape[] => events.filter((event) => event.group === group)
  return {
    command,
    logs,
    put,
    scrapes,
    runs: () => readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n').map(Number),
    tick(laterMs = 1_000) {
      t += laterMs
      void run(t)
    },
    next: (group = '') =>
      new Promise((resolve, reject) => {
        const index = read.get(group) ?? 0
        read.set(group, index + 1)
        const timer = setTimeout(() => reject(new Error(`no scrape ${index} of group '${group}' within 2 min; logs: ${logs.join(' | ')}`)), 120_000)
        const look = (): void => {
          const found = scrapes(group)[index]
          if (found === undefined) return
          clearTimeout(timer)
          wake.delete(look)
          resolve(found)
        }
        wake.add(look)
        look()
      }),
    async stop() {
      await source.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export const valueOf = (scrape: Scrape, name: string, labels: Readonly<Record<string, string>> = {}): number | undefined =>
  scrape.readings.find(
    ({ series }) => series.metric.name === `warpwatch_${name}` && Object.entries(labels).every(([label, value]) => series.labels[label] === value),
  )?.value
