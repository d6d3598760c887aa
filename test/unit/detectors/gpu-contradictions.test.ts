// Cards that are shared or full while others, or other parts of them, stand empty.
import { describe, expect, test } from 'vitest'
import { migFull } from '../../../agent/diagnosis/detectors/mig-full.ts'
import { sharedGpu } from '../../../agent/diagnosis/detectors/shared-gpu.ts'
import { faults, firstFault, story, watch, type Card, type Moment } from './use-scene.ts'

const a = { pid: 1, gib: 30, container: 'job-a' }
const b = { pid: 2, gib: 20, container: 'job-b' }
const shared: Card = { jobs: [a, b] }
const empty: Card = { jobs: [], utilization: 0 }
const BOTH = { 'job-a': [0, 1], 'job-b': [0, 1] }

describe('two jobs on one card while another stands empty', () => {
  test('told after ten minutes with both names; over when one has moved', () => {
    const turns = watch(sharedGpu, 1_500, (second) => ({ cards: second < 1_000 ? [shared, empty] : [{ jobs: [a] }, { jobs: [b] }], grants: BOTH }))
    expect(story(turns)).toEqual(['600 faulty warning', '1060 healthy'])
    expect(firstFault(turns)).toMatchObject({
      about: { uuid: expect.stringMatching(/^GPU-00000000/) },
      kind: 'shared_gpu',
      facts: { gpus: ['0'], idle_gpus: ['1'], jobs: ['container job-a', 'container job-b'] },
      title: 'GPU 0 is shared by container job-a and container job-b while GPU 1 is empty',
    })
    expect(firstFault(turns).verdict).toContain('which one of them was given as well')
  })

  test('nobody tells what they were given: a hint only', () => {
    expect(story(watch(sharedGpu, 700, () => ({ cards: [shared, empty] })))).toEqual(['600 faulty info'])
    expect(story(watch(sharedGpu, 700, () => ({ cards: [shared, empty], grants: BOTH, by: 'privileged' })))).toEqual(['600 faulty info'])
  })

  test.each<[name: string, tell: (second: number) => Moment]>([
    ['both were given only this one', () => ({ cards: [shared, empty], grants: { 'job-a': [0], 'job-b': [0] } })],
    ['the other is in use', () => ({ cards: [shared, { jobs: [{ pid: 3, gib: 4, container: 'job-c' }] }], grants: BOTH })],
    ['somebody unseen holds memory of the other', () => ({ cards: [shared, { ...empty, lost: 3 }], grants: BOTH })],
    ['the other works, whoever it is', () => ({ cards: [shared, { jobs: [], utilization: 0.3 }], grants: BOTH })],
    ['processes of one job', () => ({ cards: [{ jobs: [a, { ...a, pid: 5 }] }, empty], grants: BOTH })],
    ['a desktop beside a job', () => ({ cards: [{ jobs: [a, { pid: 6, gib: 2, name: 'Xorg', type: 'G' }] }, empty], grants: BOTH })],
    ['a context beside a job', () => ({ cards: [{ jobs: [a, { ...b, gib: 0.4 }] }, empty], grants: BOTH })],
    [
      'nine minutes of it',
      (second) => ({ cards: second % 700 < 540 ? [shared, empty] : [shared, { jobs: [{ pid: 3, gib: 4, container: 'job-c' }] }], grants: BOTH }),
    ],
    ['the other cannot be read', () => ({ cards: [shared, 'gone'], grants: BOTH })],
    ['a host of one card', () => ({ cards: [shared] })],
  ])('quiet: %s', (_, tell) => {
    expect(faults(watch(sharedGpu, 1_500, tell))).toEqual([])
  })

  test('a process that the list leaves out now and then, and a card that is not read now and then, change nothing', () => {
    const turns = watch(sharedGpu, 900, (second) => ({
      cards: [second % 70 === 0 ? { jobs: [a] } : shared, second % 110 === 0 ? { ...empty, utilization: undefined } : empty],
      grants: BOTH,
    }))
    expect(faults(turns)).toHaveLength(1)
  })

  test('silence does not heal it', () => {
    expect(story(watch(sharedGpu, 1_500, (second) => (second < 700 ? { cards: [shared, empty], grants: BOTH } : { cards: ['gone'] })))).toHaveLength(1)
  })
})

describe('a MIG instance that is full while the card is not', () => {
  const mig = (usedGib: number, retries: number, otherGib = 2): Moment => ({
    cards: [
      {
        utilization: undefined,
        jobs: [{ ...a, gi: '1', gib: usedGib, retries }],
        instances: [
          { gi: '1', totalGib: 20, usedGib },
          { gi: '2', totalGib: 40, usedGib: otherGib },
        ],
      },
    ],
  })

  test('told when somebody in it is refused memory; over ten minutes after the last time', () => {
    const turns = watch(migFull, 1_500, (second) => mig(19.6, second < 100 ? 0 : second < 200 ? 3 : 4))
    const [reported, over] = story(turns)
    expect(reported).toBe('100 faulty warning')
    expect(over).toMatch(/^8\d\d healthy$/)
    expect(firstFault(turns)).toMatchObject({ kind: 'mig_full', facts: { mig_instance: '1', free_bytes: 38 * 2 ** 30, retries: 3 } })
    expect(firstFault(turns).verdict).toContain('process python (1) of container job-a was refused memory 3 times')
  })

  test.each<[name: string, tell: (second: number) => Moment]>([
    ['full, and nobody wants more', () => mig(19.8, 2)],
    ['refused, but not full: a limit of its own', (second) => mig(12, Math.floor(second / 100))],
    ['the card is full too', (second) => mig(19.8, Math.floor(second / 100), 39)],
    ['a card without instances', () => ({ cards: [{ jobs: [{ ...a, retries: 1 }] }] })],
  ])('quiet: %s', (_, tell) => {
    expect(faults(watch(migFull, 1_000, tell))).toEqual([])
  })

  test('silence does not heal it', () => {
    expect(story(watch(migFull, 2_000, (second) => (second < 300 ? mig(19.6, second < 100 ? 0 : 3) : { cards: ['gone'] })))).toEqual(['100 faulty warning'])
  })
})
