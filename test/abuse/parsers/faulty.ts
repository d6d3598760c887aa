// Parsers that break the promise, each in its way: the runs themselves are tested with them.
import { textParser } from './parser.ts'

/** Of CPU, which is what counts. */
const busyMs = (ms: number): void => {
  const before = process.cpuUsage()
  const spent = (): number => (({ user, system }) => (user + system) / 1_000)(process.cpuUsage(before))
  while (spent() < ms);
}
const SEEDS = ['{"a": 1}', 'plain text 42\n']

export const sound = textParser('sound', 'nothing', SEEDS, () => {}, { inputs: 200 })
export const throws = textParser('throws', 'JSON without a refusal', SEEDS, (text) => void JSON.parse(text), { inputs: 200 })
export const slow = textParser('slow', 'what has an even length', SEEDS, (text) => busyMs(text.length % 2 === 0 ? 200 : 0), {
  inputs: 200,
})
const HAS_SPACE = / {2}/
export const hangs = textParser('hangs', 'two spaces', SEEDS, (text) => (HAS_SPACE.test(text) ? busyMs(Infinity) : undefined), { inputs: 200 })
const kept: unknown[] = []
export const grows = textParser(
  'grows',
  'two spaces',
  SEEDS,
  (text) => {
    while (HAS_SPACE.test(text)) kept.push(Array.from({ length: 1e6 }, (_, i) => i + 0.5))
  },
  { inputs: 200 },
)
export const soundToo = textParser('sound-too', 'nothing', SEEDS, () => {}, { inputs: 200 })
