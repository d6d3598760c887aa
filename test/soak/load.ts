// What the soak's fake GPUs say: values that change every second as those of a training host do, and follow from the second, so that each stored one can be checked.
import { eightH100, withGpu, writeScenario, type FakeScenario } from '../fakes/nvml/scenario.ts'

const GIB = 1024 ** 3
const host = eightH100()

/** Watts of a GPU in a second: a slow wave, a fast ripple, never the same in two neighbouring seconds. */
export const wattsAt = (gpu: number, second: number): number => 400 + 20 * gpu + (second % 97) + (second % 2 === 0 ? 0 : 0.25)
/** Bytes: a step every ten seconds, as a caching allocator grows. */
export const usedAt = (gpu: number, second: number): number => (40 + gpu) * GIB + (Math.floor(second / 10) % 600) * 2 * 1024 ** 2

export function sceneAt(second: number): FakeScenario {
  let scene = host
  for (let gpu = 0; gpu < host.gpus.length; gpu++) {
    scene = withGpu(scene, gpu, {
      power: Math.round(wattsAt(gpu, second) * 1000),
      mem_used: usedAt(gpu, second),
      util: 60 + ((second * 7 + gpu) % 40),
      temp: 55 + gpu + (Math.floor(second / 20) % 5),
      energy: 123_456_789 + second * 450_000,
      clock_sm: 1700 + ((second * 15) % 150),
      'gpm.2': 70 + ((second * 3 + gpu) % 200) / 10,
      'gpm.5': 50 + ((second * 5 + gpu) % 150) / 10,
    })
  }
  return scene
}

export type LoadScenes = {
  /** Seconds whose values the library told at any time from `from` to `to` (Unix ms). */
  readonly during: (from: number, to: number) => readonly number[]
  readonly stop: () => void
}

/** Writes the scene of each second in the middle of the one before. */
export function tellScenes(path: string): LoadScenes {
  const reported: { readonly second: number; readonly at: number }[] = []
  let timer: NodeJS.Timeout
  const tell = (): void => {
    const now = Date.now()
    const second = Math.floor((now + 500) / 1000)
    writeScenario(path, sceneAt(second))
    reported.push({ second, at: now })
    timer = setTimeout(tell, second * 1000 + 500 - now)
  }
  tell()
  return {
    // The writing itself takes a moment, so the end of each is a little late.
    during: (from, to) => reported.filter(({ at }, i) => at <= to && (reported[i + 1]?.at ?? Infinity) + 50 >= from).map(({ second }) => second),
    stop: () => clearTimeout(timer),
  }
}
