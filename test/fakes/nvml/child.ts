// Drives a real sampler child against the fake library, as the supervisor does: start, scrape, look at what comes back.
import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import type { Gap } from '../../../agent/model/reading.ts'
import type { Failed, FromChild, GpuSample, Hello, Rate, StartRequest } from '../../../agent/sampler/protocol.ts'
import { fakeLibrary } from './build.ts'
import type { Profile } from './build.ts'
import { scenarioFile } from './scenario.ts'
import type { FakeScenario } from './scenario.ts'

const entry = join(import.meta.dirname, '../../../agent/sampler/child-main.ts')

export type Round = {
  readonly hello: Hello | undefined
  readonly samples: readonly GpuSample[]
  /** Value of a series by its key without the prefix: `gpu_power_watts{gpu="0"}`; only the given labels need match. */
  readonly value: (metric: string, labels?: Readonly<Record<string, string>>) => number | undefined
  readonly values: (metric: string, labels?: Readonly<Record<string, string>>) => readonly number[]
  readonly gaps: readonly Gap[]
  readonly gap: (metric: string, labels?: Readonly<Record<string, string>>) => Gap | undefined
  readonly processes: (index: number) => GpuSample['processes']
}
export type TestChild = {
  readonly process: ChildProcess
  readonly hello: Hello
  readonly scrape: (rates?: readonly Rate[]) => Promise<Round>
  readonly write: (scenario: FakeScenario) => void
  readonly close: () => Promise<void>
}
export type ChildOptions = Partial<Omit<StartRequest, 'type'>> & { readonly profile?: Profile }

const prefixed = (metric: string): string => (metric === 'gpu' ? metric : `warpwatch_${metric}`)
const matches = (labels: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value)

/** Forks a child; resolves with its hello, or with what it said when it failed. */
export async function startChild(scenario: FakeScenario, options: ChildOptions = {}): Promise<TestChild | Failed> {
  const { profile = 'full', ...start } = options
  const library = fakeLibrary(profile)
  if (library === undefined) throw new Error('startChild needs the fake library; guard the test with hasFake')
  const file = scenarioFile(scenario)
  const child = fork(entry, { env: { ...process.env, FAKE_NVML_SCENARIO: file.path } })
  const series = new Map<number, { metric: string; labels: Readonly<Record<string, string>> }>()
  const gapsBy = new Map<string, readonly Gap[]>()
  const listeners = new Set<(message: FromChild | 'exit') => void>()
  const tell = (message: FromChild | 'exit'): void => {
    for (const listener of listeners) listener(message)
  }
  child.on('message', (message: FromChild) => {
    if (message.type === 'series') for (const [id, metric, labels] of message.series) series.set(id, { metric, labels })
    tell(message)
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  void ended.then(() => tell('exit'))
  const first = new Promise<Hello | Failed>((resolve, reject) => {
    const listen = (message: FromChild | 'exit'): void => {
      if (message === 'exit') reject(new Error(`the child ended before it said hello: ${child.exitCode ?? child.signalCode}`))
      else if (message.type === 'hello' || message.type === 'failed') resolve(message)
      else return
      listeners.delete(listen)
    }
    listeners.add(listen)
  })
  child.send({ type: 'start', libraries: [library], leaveOut: [], peakHz: 0, reinitMs: 0, ...start } satisfies StartRequest)
  const hello = await first
  if (hello.type === 'failed') {
    await ended
    file.remove()
    return hello
  }
  let id = 0
  const processesBy = new Map<string, GpuSample['processes']>()
  const scrape = (rates: readonly Rate[] = ['fast', 'slow', 'rare']): Promise<Round> =>
    new Promise((resolve, reject) => {
      const samples: GpuSample[] = []
      let again: Hello | undefined
      id++
      const listen = (message: FromChild | 'exit'): void => {
        if (message === 'exit') {
          listeners.delete(listen)
          reject(new Error(`the child ended while it was asked: ${child.exitCode ?? child.signalCode}`))
        } else if (message.type === 'gpu' && message.id === id) {
          // As the handle of the child does: a list that did not change is that of the sample before.
          const processes = message.sameProcesses === true ? processesBy.get(message.uuid) : message.processes
          if (processes !== undefined) processesBy.set(message.uuid, processes)
          samples.push(processes === undefined ? message : { ...message, processes })
          // As the store does: absent gaps are those of the sample before.
          if (message.gaps !== undefined) gapsBy.set(`${message.uuid} ${message.rate}`, message.gaps)
        } else if (message.type === 'hello') again = message
        else if (message.type === 'failed') {
          listeners.delete(listen)
          reject(new Error(message.detail))
        } else if (message.type === 'done' && message.id === id) {
          listeners.delete(listen)
          const readings = samples.flatMap((sample) =>
            sample.series.map((number, at) => {
              const known = series.get(number)
              if (known === undefined) throw new Error(`series ${number} was never announced`)
              return { ...known, value: sample.values[at] }
            }),
          )
          const values: Round['values'] = (metric, labels = {}) =>
            readings.filter((r) => r.metric === prefixed(metric) && matches(r.labels, labels)).map((r) => r.value ?? Number.NaN)
          const gaps = samples.flatMap((sample) => gapsBy.get(`${sample.uuid} ${sample.rate}`) ?? [])
          resolve({
            hello: again,
            samples,
            values,
            value: (metric, labels) => values(metric, labels)[0],
            gaps,
            gap: (metric, labels = {}) => gaps.find((gap) => gap.metric === prefixed(metric) && matches(gap.labels, labels)),
            processes: (index) => samples.find((sample) => sample.index === index && sample.processes !== undefined)?.processes,
          })
        }
      }
      listeners.add(listen)
      child.send({ type: 'scrape', id, rates })
    })
  return {
    process: child,
    hello,
    scrape,
    write: file.write,
    close: async () => {
      if (child.connected) child.disconnect()
      await ended
      file.remove()
    },
  }
}

/** Runs `use` with a child that said hello and takes it away afterwards. */
export async function withChild(scenario: FakeScenario, options: ChildOptions, use: (child: TestChild) => Promise<void>): Promise<void> {
  const child = await startChild(scenario, options)
  if ('type' in child) throw new Error(`the child failed: ${child.detail}`)
  try {
    await use(child)
  } finally {
    await child.close()
  }
}

export const hasFake = fakeLibrary('full') !== undefined
