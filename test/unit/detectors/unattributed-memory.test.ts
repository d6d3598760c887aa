// Memory that no living process holds, distinguished from overhead, from what cannot be read, and from holders that cannot be seen.
import { describe, expect, test } from 'vitest'
import { unattributedMemory } from '../../../agent/diagnosis/detectors/unattributed-memory.ts'
import { faults, firstFault, story, watch, type Card, type Moment } from './use-scene.ts'

const trainer = { pid: 4242, gib: 40, container: 'trainer' }
const well: Card = { jobs: [trainer], lost: 0.3 }
const on = (card: Card | 'gone'): Moment => ({ cards: [card, { jobs: [], utilization: 0 }] })

describe('unattributed memory', () => {
  test('left behind by a process that was killed: told after five minutes, with its name, and over when it is given back', () => {
    const turns = watch(unattributedMemory, 900, (second) => on(second < 60 ? well : second < 600 ? { lost: 40, utilization: 0 } : { utilization: 0 }))
    expect(story(turns)).toEqual(['360 faulty warning', '630 healthy'])
    expect(firstFault(turns)).toMatchObject({
      about: { uuid: expect.stringMatching(/^GPU-0/) },
      facts: { pattern: 'held_by_nobody', holder: 'nobody', unattributed_bytes: 40 * 2 ** 30, left_by: 'process python (4242) of container trainer' },
    })
    expect(firstFault(turns).verdict).toMatch(
      /40 GiB of 80 GiB on GPU 0 \(Test GPU\) have belonged to no living process for 5 min\. Process python \(4242\) of container trainer held memory there and ended 5 min ago/,
    )
  })

  test('the driver goes on listing the dead: the same, though nothing is unattributed', () => {
    const turns = watch(unattributedMemory, 500, (second) => on({ ...well, jobs: [{ ...trainer, name: second < 60 ? 'python' : null }] }))
    expect(story(turns)).toEqual(['360 faulty warning'])
    expect(firstFault(turns).verdict).toContain('The driver still lists process python (4242) of container trainer, which no longer runs.')
  })

  test('after a restart of the agent nobody knows who it was, but it is held by nobody still', () => {
    const turns = watch(unattributedMemory, 500, () => on({ lost: 20, utilization: 0 }))
    expect(story(turns)).toEqual(['300 faulty warning'])
    expect(firstFault(turns).facts).not.toHaveProperty('left_by')
  })

  test('a card that works with nobody on the list: somebody hidden, no crash', () => {
    const turns = watch(unattributedMemory, 500, () => on({ lost: 20, utilization: 0.8 }))
    expect(story(turns)).toEqual(['300 faulty info'])
    expect(firstFault(turns).facts).toMatchObject({ pattern: 'held_by_somebody_hidden', holder: 'hidden' })
  })

  test('somebody hidden who rests now and then is no crash in between', () => {
    const turns = watch(unattributedMemory, 1_500, (second) => on({ lost: 20, utilization: second % 300 < 60 ? 0.8 : 0 }))
    expect(story(turns)).toEqual(['300 faulty info'])
  })

  test('well from the first look on: said once, for an incident from before a restart of the agent', () => {
    expect(watch(unattributedMemory, 200, () => ({ cards: [well] }))).toMatchObject([{ second: 30, state: 'healthy' }])
  })

  test('an agent that sees no other process: idle memory is told as hidden, a card at work is none of it', () => {
    expect(story(watch(unattributedMemory, 500, () => on({ lost: 20, utilization: 0, blind: true })))).toEqual(['300 faulty info'])
    expect(watch(unattributedMemory, 900, () => on({ lost: 20, utilization: 0.8, blind: true })).filter(({ key }) => key.startsWith('GPU-00000000'))).toEqual(
      [],
    )
  })

  test('an agent that sees no other process, but saw this one die', () => {
    const turns = watch(unattributedMemory, 500, (second) => on(second < 60 ? well : { lost: 40, utilization: 0.9, blind: true }))
    expect(story(turns)).toEqual(['370 faulty warning'])
  })

  test.each<[name: string, tell: (second: number) => Moment]>([
    ['the overhead of driver and contexts', () => on({ ...well, lost: 0.9 })],
    ['more than a GiB, but little of a large card', () => ({ cards: [{ ...well, lost: 1.4 }] })],
    ['a teardown of four minutes', (second) => on(second % 300 < 60 ? well : { lost: 40, utilization: 0 })],
    ['the driver does not report what its processes hold', () => on({ jobs: [trainer], unlisted: true })],
    ['Windows programs under WSL2', () => ({ ...on({ lost: 6 }), wsl: true })],
    ['nothing can be read', () => on('gone')],
  ])('quiet: %s', (_, tell) => {
    expect(faults(watch(unattributedMemory, 1_200, tell))).toEqual([])
  })

  test('silence neither makes nor heals it', () => {
    expect(story(watch(unattributedMemory, 2_000, (second) => on(second < 400 ? { lost: 20, utilization: 0 } : 'gone')))).toEqual(['300 faulty warning'])
    expect(faults(watch(unattributedMemory, 2_000, (second) => on(second < 200 ? { lost: 20, utilization: 0 } : 'gone')))).toEqual([])
  })

  test('a reading that is missing now and then does not start the time again', () => {
    const turns = watch(unattributedMemory, 700, (second) => on(second % 50 < 5 ? 'gone' : { lost: 20, utilization: 0 }))
    expect(faults(turns)).toHaveLength(1)
  })
})
