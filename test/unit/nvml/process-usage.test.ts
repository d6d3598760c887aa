// Samples of processes and the accounting mode, read from the fake library by either call: each sample once, nothing that is none.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { utilizationByProcess } from '../../../agent/collectors/process-utilization.ts'
import { accounting } from '../../../agent/collectors/accounting.ts'
import { processes } from '../../../agent/collectors/processes.ts'
import { openSession, type Session } from '../../../agent/nvml/session.ts'
import { createGpuSampler } from '../../../agent/sampler/child/gpu-sampler.ts'
import { createOutput } from '../../../agent/sampler/child/output.ts'
import { createSeriesIds } from '../../../agent/sampler/child/series-ids.ts'
import { fakeLibrary } from '../../fakes/nvml/build.ts'
import { FIRST_PID, h100, hostOf, migH100, scenarioFile, type FakeGpu, type FakeSample } from '../../fakes/nvml/scenario.ts'

describe.skipIf(fakeLibrary() === undefined)('usage of processes (needs a C compiler)', () => {
  const file = scenarioFile(hostOf(1))
  beforeAll(() => void (process.env['FAKE_NVML_SCENARIO'] = file.path))
  afterAll(() => file.remove())
  const write = (gpu: FakeGpu): void => file.write({ ...hostOf(1), gpus: [gpu] })
  const opened = async (profile: 'full' | 'r470'): Promise<Session> => {
    const session = await openSession([fakeLibrary(profile) ?? ''], () => 'test')
    if (typeof session === 'string') throw new Error(session)
    session.start()
    return session
  }
  const deviceOf = (session: Session) => {
    const gpu = session.open(0)
    if (!('device' in gpu)) throw new Error(gpu.detail)
    return gpu.device
  }

  test.each(['full', 'r470'] as const)('each sample counts once, as a mean over the periods since the last look (%s)', async (profile) => {
    const at = (second: number, pid: number, sm: number): FakeSample => ({ timeUs: 1_000_000_000 + second * 1_000_000, pid, sm })
    let samples = [at(0, 7, 90)]
    const show = (): void => write({ ...h100(0), samples })
    show()
    const session = await opened(profile)
    const attached = utilizationByProcess.attach(deviceOf(session))
    const output = createOutput(createSeriesIds())
    const loads = () => {
      output.begin()
      attached?.read(output, 0)
      expect(output.end()?.map(({ detail }) => detail) ?? []).toEqual([])
      return output.processLoads()
    }
    expect(loads()).toEqual([]) // the ring of before the start
    expect(loads()).toEqual([])
    samples = [...samples, at(1, 7, 40), at(1, 8, 20), at(1.5, 7, 60), at(1.5, 9, 101), at(1.5, 0, 5)]
    show()
    expect(loads()).toEqual([
      { pid: 7, ratio: 0.5 },
      { pid: 8, ratio: 0.1 },
    ])
    samples = Array.from({ length: 700 }, (_, pid) => at(2, pid + 1, 1))
    show()
    expect(loads()).toHaveLength(700)
    session.stop()
  })

  test('of one process alone samples are asked for seldom, and each time again once they name another one', async () => {
    const [own, other] = [FIRST_PID, FIRST_PID + 1]
    let samples: readonly FakeSample[] = [{ timeUs: 1_000_000, pid: own, sm: 50 }]
    const show = (...pids: readonly number[]): void =>
      write({
        ...h100(
          0,
          {},
          pids.map((pid) => ({ pid, bytes: 5 })),
        ),
        samples,
      })
    show(own)
    const session = await opened('full')
    const device = deviceOf(session)
    const [lists, attached] = [processes.attach(device), utilizationByProcess.attach(device)]
    const output = createOutput(createSeriesIds())
    const look = () => {
      output.begin()
      lists?.read(output, 0)
      attached?.read(output, 0)
      output.end()
      return output.processLoads() ?? []
    }
    let at = 1
    const sample = (pid: number): void => void (samples = [...samples.slice(-20), { timeUs: ++at * 1_000_000, pid, sm: 40 }])
    const reported = (looks: number, of: (turn: number) => number): number =>
      Array.from({ length: looks }, (_, turn) => {
        sample(of(turn))
        show(own)
        return look().length
      }).filter((length) => length > 0).length
    look()
    for (let turn = 0; turn < 60; turn++) look()
    expect(reported(8, () => own)).toBe(2)
    // One that no list named: from the first answer that names it on, each time.
    expect(reported(12, (turn) => (turn % 2 === 0 ? own : other))).toBeGreaterThanOrEqual(9)
    for (let turn = 0; turn < 60; turn++) look()
    // Two that are listed: at once.
    sample(other)
    show(own, other)
    expect(look()).not.toEqual([])
    session.stop()
  })

  test('a list of processes that has not changed is not sent again', async () => {
    const gpu = (bytes: number): FakeGpu => h100(0, {}, [{ pid: FIRST_PID, bytes }])
    write(gpu(5))
    const session = await opened('full')
    const found = session.open(0)
    if (!('device' in found)) throw new Error(found.detail)
    const sampler = createGpuSampler(found, createSeriesIds())
    const row = (bytes: number) => [{ pid: FIRST_PID, type: 'C', bytes }]
    expect(sampler.sample('fast', 1)).toMatchObject({ processes: row(5) })
    const same = sampler.sample('fast', 2)
    expect([same.processes, same.sameProcesses]).toEqual([undefined, true])
    write(gpu(6))
    const changed = sampler.sample('fast', 3)
    expect([changed.processes, changed.sameProcesses]).toEqual([row(6), undefined])
    session.stop()
  })

  test('with MIG there are no samples, and a gap says so', async () => {
    write(migH100(0))
    const session = await opened('full')
    const attached = utilizationByProcess.attach(deviceOf(session))
    const output = createOutput(createSeriesIds())
    output.begin()
    attached?.read(output, 0)
    expect(output.processLoads()).toBeUndefined()
    expect(output.end()).toMatchObject([{ metric: 'warpwatch_process_gpu_utilization_ratio', reason: 'not_supported' }])
    session.stop()
  })

  test('accounting counts processes that no list has named, those of before the start not', async () => {
    const account = (pid: number, running = false) => ({ pid: FIRST_PID + pid, gpu: 50, bytes: 1_000, ms: 400, running })
    const show = (...pids: readonly number[]): void =>
      write({ ...h100(0, {}, [{ pid: FIRST_PID + 3, bytes: 5 }]), accounts: [account(3, true), ...pids.map((pid) => account(pid))] })
    show(1)
    const session = await opened('full')
    const device = deviceOf(session)
    const [lists, attached] = [processes.attach(device), accounting.attach(device)]
    const output = createOutput(createSeriesIds())
    const read = (): readonly number[] => {
      output.begin()
      lists?.read(output, 0)
      attached?.read(output, 0)
      output.end()
      return output.values()
    }
    expect(read()).toEqual([1, 0, 0])
    show(1, 4, 5)
    expect(read()).toEqual([1, 2, 0.8])
    expect(read()).toEqual([1, 2, 0.8])
    write(h100(0, { accounting: 0 }))
    expect(read()).toEqual([0])
    session.stop()
  })
})
