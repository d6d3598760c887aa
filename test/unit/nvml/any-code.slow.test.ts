// The child survives any code from any function: enumeration, events and MIG included, not only the collectors' calls.
import { afterAll, describe, expect, test } from 'vitest'
import { FUNCTIONS } from '../../../agent/nvml/names.ts'
import { openSession } from '../../../agent/nvml/session.ts'
import type { Session } from '../../../agent/nvml/session.ts'
import { createGpuSet } from '../../../agent/sampler/child/gpu-set.ts'
import type { FromChild, StartRequest } from '../../../agent/sampler/protocol.ts'
import { fakeLibrary } from '../../fakes/nvml/build.ts'
import { IS_LONG } from '../../setup/rounds.ts'
import { h100, hostOf, migH100, scenarioFile } from '../../fakes/nvml/scenario.ts'

const library = fakeLibrary()
const healthy = { ...hostOf(2), gpus: [migH100(0), h100(1, {}, [{ pid: 1, bytes: 4096 }])] }
const request: StartRequest = { type: 'start', libraries: [library ?? ''], leaveOut: [], peakHz: 10, reinitMs: 0 }
const RATES = ['fast', 'slow', 'rare'] as const

describe.skipIf(library === undefined)('any code of any function (needs a C compiler)', () => {
  const file = scenarioFile(healthy)
  process.env['FAKE_NVML_SCENARIO'] = file.path
  afterAll(() => file.remove())

  /** Starts with the rule, or sets it after the first scrape; what the child said. */
  const live = (session: Session, name: string, code: number, when: 'before' | 'after'): { readonly sent: readonly FromChild[]; readonly failed: boolean } => {
    const broken = { ...healthy, values: { ...healthy.values, [`ret.${name}`]: code } }
    file.write(when === 'before' ? broken : healthy)
    const sent: FromChild[] = []
    const gpus = createGpuSet(session, request, (message) => sent.push(message))
    let failed = gpus.start() !== undefined
    for (let id = 1; id <= 3 && !failed; id++) {
      gpus.peak()
      failed = gpus.scrape({ type: 'scrape', id, rates: RATES }) !== undefined
      file.write(broken)
    }
    file.write(healthy)
    session.stop()
    return { sent, failed }
  }

  test.each(FUNCTIONS.map(([name], nth) => [name, nth] as const))('%s', async (name, nth) => {
    const session = await openSession(request.libraries, () => 'test')
    if (typeof session === 'string') throw new Error(session)
    for (const [at, code] of [2, 3, 7, 15, 18, 999].entries()) {
      // Each code of each function, and each function both before and after the first scrape; all of them together are for the long form.
      for (const when of IS_LONG ? (['before', 'after'] as const) : ([(at + nth) % 2 === 0 ? 'before' : 'after'] as const)) {
        const { sent, failed } = live(session, name, code, when)
        // Each scrape ends with `done`, unless NVML as a whole is out of use, which only these calls can say.
        const done = sent.filter((message) => message.type === 'done').length
        expect({ name, code, when, done: failed ? 3 : done }).toEqual({ name, code, when, done: 3 })
        const mayFail = /^(nvmlInit_v2|nvmlDeviceGetCount_v2)$/.test(name)
        expect({ name, code, when, failed: failed && !mayFail }).toEqual({ name, code, when, failed: false })
        const values = sent.flatMap((message) => (message.type === 'gpu' ? message.values : []))
        expect(values.every((value) => Number.isFinite(value) && value >= 0)).toBe(true)
      }
    }
  })
})
