// The hosts that the footprint is measured on: real containers, whose processes hold memory of the fake library's GPUs.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fakeLibrary } from '../../test/fakes/nvml/build.ts'
import { hostOf, migH100, scenarioFile, type FakeGpu, type FakeScenario } from '../../test/fakes/nvml/scenario.ts'
import { startDocker } from '../../test/setup/docker.ts'

export type Size = {
  readonly gpus: number
  readonly mig: number
  readonly containers: number
  readonly processes: number
  readonly limitCpu: readonly [number, number]
}
/** Limits: CPU seconds an hour in the first two minutes, and from the fifth minute on. */
export const SIZES: Readonly<Record<string, Size>> = {
  usual: { gpus: 8, mig: 0, containers: 20, processes: 40, limitCpu: [24, 18] },
  empty: { gpus: 0, mig: 0, containers: 0, processes: 0, limitCpu: [5, 5] },
  large: { gpus: 16, mig: 8, containers: 120, processes: 300, limitCpu: [60, 60] },
}

export type Scene = {
  readonly env: NodeJS.ProcessEnv
  /** What the fake library tells, and what it is to tell from now on. */
  readonly scenario: FakeScenario
  readonly tell: (scenario: FakeScenario) => void
  readonly close: () => Promise<void>
}

/** Host pids whose cgroup path holds the container's id. */
function pidsOf(id: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(id)
      } catch {
        return false // ended meanwhile
      }
    })
    .map(Number)
}

export async function startScene({ gpus, mig, containers, processes }: Size): Promise<Scene> {
  const library = fakeLibrary('full')
  if (library === undefined) throw new Error('bench footprint: no C compiler for the fake NVML library; install gcc')
  const docker = await startDocker()
  const each = containers === 0 ? 0 : Math.ceil(processes / containers)
  const command = ['sh', '-c', `${'sleep 100000 & '.repeat(Math.max(0, each - 1))}sleep 100000`]
  const ids: string[] = []
  for (let n = 0; n < containers; n++) ids.push(await docker.run({ name: `job-${n}`, command }))
  // The shells have started their children by the time that the last container runs; the first ones are looked up first.
  const pids = ids.flatMap((id) => pidsOf(id).slice(0, each)).slice(0, processes)
  const host = hostOf(gpus)
  const holds = (gpu: FakeGpu, index: number): FakeGpu => ({
    ...(index >= gpus - mig ? migH100(index) : gpu),
    ...(index >= gpus - mig ? {} : { processes: pids.filter((_, n) => n % Math.max(1, gpus - mig) === index).map((pid) => ({ pid, bytes: 4 * 1024 ** 3 })) }),
  })
  const scenario = { ...host, gpus: host.gpus.map(holds) }
  const file = scenarioFile(scenario)
  // What else runs in containers on this machine is none of an empty host's.
  const noCgroups = containers > 0 ? undefined : mkdtempSync(join(tmpdir(), 'warpwatch-bench-cgroups-'))
  return {
    env: {
      FAKE_NVML_SCENARIO: file.path,
      WARPWATCH_GPU__LIBRARY: library,
      WARPWATCH_CONTAINERS__ENGINES: `[${docker.socketPath}]`,
      ...(noCgroups === undefined ? {} : { WARPWATCH_CONTAINERS__CGROUP_ROOT: noCgroups }),
    },
    scenario,
    tell: file.write,
    async close() {
      file.remove()
      if (noCgroups !== undefined) rmSync(noCgroups, { recursive: true })
      await docker.close()
    },
  }
}
