// Detectors that change while the agent runs: those that stay the same forget nothing, those that are gone leave no incident behind.
import { expect, test } from 'vitest'
import { createCustomThresholds } from '../../../agent/diagnosis/custom-thresholds.ts'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import { defineDetector } from '../../../agent/diagnosis/detectors/definition.ts'
import type { CustomThreshold } from '../../../agent/model/detector-settings.ts'
import { createScene, reading, scrape, T, uuid } from '../incidents/scene.ts'

const HOT: CustomThreshold = {
  name: 'hot',
  metric: 'warpwatch_gpu_temperature_celsius',
  labels: {},
  comparison: '>',
  value: 85,
  forMs: 10_000,
  clearMs: 5_000,
  severity: 'warning',
}
const THIRSTY: CustomThreshold = { ...HOT, name: 'thirsty', metric: 'warpwatch_gpu_power_watts', value: 500, forMs: 0 }

function scene(thresholds: readonly CustomThreshold[]) {
  const definitions = createCustomThresholds()
  const detection = createDetection({ definitions: definitions(thresholds) })
  const made = createScene({ detection })
  const labels = { gpu: '0', uuid: uuid(0) }
  return {
    configure: (next: readonly CustomThreshold[]) => detection.configure(definitions(next), undefined),
    /** GPU 0 is at 90 °C and 600 W in each second up to this one. */
    pass: (from: number, to: number): void => {
      for (let second = from; second < to; second++) {
        const t = T + second * 1_000
        made.feed(scrape(t, 'gpu', [reading('gpu_temperature_celsius', labels, 90), reading('gpu_power_watts', labels, 600)]))
        made.feed({ ...scrape(t + 1, 'host', []), group: 'clock' })
      }
    },
    firing: () => made.diagnosis.firing().map(({ id, facts }) => ({ id, name: facts.name })),
    incidents: () => made.incidents(),
  }
}

test('a threshold that stays the same goes on counting', () => {
  const { configure, pass, firing } = scene([HOT])
  pass(0, 6)
  configure([{ ...HOT }, THIRSTY])
  pass(6, 12)
  expect(firing().map(({ name }) => name)).toEqual(['thirsty', 'hot'])
})

test('a new one sees metrics that nobody watched before', () => {
  const { configure, pass, firing } = scene([])
  pass(0, 3)
  configure([THIRSTY])
  pass(3, 6)
  expect(firing().map(({ name }) => name)).toEqual(['thirsty'])
})

test('what a removed one found is over, and says why; the others’ incidents stay', () => {
  const { configure, pass, firing, incidents } = scene([HOT, THIRSTY])
  pass(0, 15)
  const [kept] = firing().filter(({ name }) => name === 'thirsty')
  expect(firing()).toHaveLength(2)
  configure([THIRSTY])
  pass(15, 20)
  expect(firing()).toEqual([kept])
  expect(incidents().find(({ facts }) => facts.name === 'hot')).toMatchObject({ status: 'resolved', resolution: 'removed or changed in the configuration' })
})

test('a changed bound holds at once: the old incident ends, and a new one waits its time', () => {
  const { configure, pass, firing } = scene([HOT])
  pass(0, 15)
  expect(firing()).toHaveLength(1)
  configure([{ ...HOT, value: 89 }])
  pass(15, 20)
  expect(firing()).toEqual([])
  pass(20, 30)
  expect(firing()).toHaveLength(1)
  configure([{ ...HOT, value: 95 }])
  pass(30, 60)
  expect(firing()).toEqual([])
})

test('options of one detector start it again, and leave the others alone; one that is switched off is not asked any more', () => {
  const made: string[] = []
  const judged: string[] = []
  const detector = (id: string) =>
    defineDetector({
      id,
      kinds: ['idle_gpu_held'],
      title: id,
      severity: 'info',
      watches: [],
      everyMs: 1_000,
      options: { bound: { default: 1, min: 0, max: 9, help: 'a bound' } },
      expression: { none: 'a test' },
      create: ({ bound }) => {
        made.push(`${id} ${bound}`)
        return { judge: () => (judged.push(`${id} ${bound}`), []) }
      },
    })
  const definitions = [detector('a'), detector('b')]
  const detection = createDetection({ definitions })
  detection.configure(definitions, { b: { options: { bound: 2 } } })
  expect(made).toEqual(['a 1', 'b 1', 'b 2'])
  detection.judge(T)
  detection.configure(definitions, { a: { enabled: false }, b: { options: { bound: 2 } } })
  detection.judge(T + 1_000)
  expect([made.length, judged]).toEqual([3, ['a 1', 'b 2', 'b 2']])
})
