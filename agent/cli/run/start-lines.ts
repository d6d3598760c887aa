// The few lines that tell at the start what is watched and where to look.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { VERSION } from '../../lib/version.ts'
import { createFiles } from '../../drm/files.ts'
import { gpuSampleAgeSeconds } from '../../metrics/gpu-identity.ts'
import { chooseCards } from '../../sources/cards/choose.ts'
import type { LatestStore } from '../../store/latest.ts'

export type Started = {
  readonly url: string
  /** Where the readings of the first seconds show what was found; without it the line about GPUs is left out. */
  readonly latest?: LatestStore
}

/** NVML on a host with eight GPUs answers the first scrape after 0.3 to 3 s. */
const FIRST_LOOK_MS = 5_000
const LOOK_AGAIN_MS = 50
/** In a checkout through npm; the offline bundle brings a launcher of its own. */
const inCheckout = ['../scripts/start.mjs', '../../../scripts/start.mjs'].some((path) => existsSync(join(import.meta.dirname, path)))
const SIMULATE_COMMAND = inCheckout ? 'npm start -- --simulate' : 'warpwatch --simulate'

/** The ages of all GPUs come when the last of them has answered: a line that tells of three of eight would be wrong. */
function allAnswered(latest: LatestStore): boolean {
  const ages = latest.of(gpuSampleAgeSeconds.name).length
  return ages > 0 && latest.inventory.gpus().length >= ages
}

/** `8 × NVIDIA H100 80GB HBM3`, several kinds joined by commas; undefined while there is no reading. */
export function gpuKinds(latest: LatestStore): string | undefined {
  const kinds = new Map<string, number>()
  for (const { name = 'GPU' } of latest.inventory.gpus()) {
    kinds.set(name, (kinds.get(name) ?? 0) + 1)
  }
  return kinds.size === 0 ? undefined : [...kinds].map(([name, count]) => `${count} × ${name}`).join(', ')
}

/** Why there are no GPUs, in the words of the source that looked first; not before the one that replaces it has looked too. */
function gpuReason(config: Config, latest: LatestStore, late: boolean): string | undefined {
  const gaps = latest.gaps()
  // Cards of other makers are read a moment after NVIDIA's driver has told that it has none.
  if (!late && chooseCards(createFiles(), { sys: config.host.sys_root, proc: config.host.proc_root }, config.gpu.integrated, 0).length > 0) return undefined
  const standIn = gaps.some((gap) => gap.source === 'nvidia-smi')
  if (config.gpu.source === 'auto' && !standIn && !late) return undefined
  const gap = gaps.find((gap) => gap.source === 'gpu' && gap.metric === 'gpu') ?? gaps.find((gap) => gap.source === 'nvidia-smi')
  return gap === undefined ? undefined : (gap.detail ?? gap.reason)
}

async function gpuLine(config: Config, latest: LatestStore, ended: Promise<unknown>): Promise<string | undefined> {
  if (config.gpu.source === 'off' && config.simulate.scenario === 'off') return 'GPUs       not watched (gpu.source: off)'
  let over = false
  void ended.finally(() => (over = true))
  const until = performance.now() + FIRST_LOOK_MS
  for (;;) {
    const kinds = gpuKinds(latest)
    const late = performance.now() > until
    if (kinds !== undefined && (late || allAnswered(latest))) return `GPUs       ${kinds}`
    if (over) return undefined
    const reason = kinds === undefined ? gpuReason(config, latest, late) : undefined
    if (reason !== undefined || (late && kinds === undefined))
      return `GPUs       none: ${reason ?? 'no answer yet'}. To see it with simulated ones: ${SIMULATE_COMMAND}`
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS))
  }
}

export async function* startLines(config: Config, agent: Started, record: string | undefined, ended: Promise<unknown>): AsyncIterable<string> {
  yield `Warpwatch ${VERSION} on ${config.host_name}`
  const { scenario, seed } = config.simulate
  if (scenario !== 'off') yield `Simulated  scenario ${scenario}, seed ${seed}; nothing of this host is shown`
  yield `Dashboard  ${agent.url}/`
  yield `Metrics    ${agent.url}/metrics`
  yield config.history.enabled ? `History    ${config.data_dir}` : 'History    off'
  if (record !== undefined) yield `Recording  ${record}`
  const gpus = agent.latest === undefined ? undefined : await gpuLine(config, agent.latest, ended)
  if (gpus !== undefined) yield gpus
}
