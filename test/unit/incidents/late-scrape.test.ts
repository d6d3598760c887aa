// A scrape that comes late, as on a host without CPU, is of a second that has been judged: time does not go back for it.
import { expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import { createScene, scrape, T } from './scene.ts'

test('each second is judged once, in order; a clock that is set back starts over', () => {
  const judged: number[] = []
  const detection = createDetection({ definitions: [] })
  const { feed } = createScene({ detection: { ...detection, judge: (t) => (judged.push((t - T) / 1_000), detection.judge(t)) } })
  for (const second of [0, 1, 0, 1, 2, 1, 3, -3_600, -3_599, -3_600]) feed(scrape(T + second * 1_000, 'gpu', []))
  expect(judged).toEqual([0, 1, 2, 3, -3_600, -3_599])
})
