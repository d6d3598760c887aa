// A line that only says which epoch begins: `Epoch 3/8`, `===> Epoch 12`, `Starting epoch 4 of 10`.
import type { Format, Line, Read } from './format.ts'

/** What is before it may be anything without a figure, but no other word of an epoch: the best one, the last of the plan. */
const EPOCH =
  /^[^\d]{0,80}?\b(?:epoch|époque|epoche|эпоха|エポック)\s{0,40}[:#=]?\s{0,12}[[(]?\s{0,12}(\d{1,6})(?:\s?[\])])?(?:\s?(?:\/|of|von|de)\s?(\d{1,6}))?\s?(?:[[(]?\s?(\d{1,3}(?:\.\d+)?)\s?%[\])]?)?(?:\s{1,4}(?:starts?|started|begins?|began))?[\s=<*#.:|…-]{0,60}$/i
/** When it began, how long it took. */
const TIME = /[[(][\d\s/.,-]{0,12}\d:\d\d[\d:.,]{0,12}[\])]/g
const OTHER =
  /\b(?:best|max|total|num|from|until|every|early|sav\w*|load\w*|resum\w*|checkpoint|ckpt|after|before|valid\w*|eval\w*|test\w*|finish\w*|warm\w*)\b/i

/** `epoch is incremented. current_epoch: 13, epoch: 14`: the one that begins is the last. */
const NEXT = /\bepoch is incremented\. current_epoch: \d{1,6}, epoch: (\d{1,6})$/

function read({ text, at }: Line): Read | undefined {
  const found = text.length > 160 ? null : (NEXT.exec(text) ?? EPOCH.exec(text.replace(TIME, ' ').trim()))
  if (found === null || OTHER.test(text)) return undefined
  const [, epoch, epochs, share] = found
  return {
    observation: {
      shape: 'epoch',
      form: 'epoch',
      metrics: 0,
      epoch: Number(epoch),
      ...(epochs === undefined ? {} : { epochs: Number(epochs) }),
      ...(share === undefined ? {} : { done: Number(share) / 100 }),
      ...(at === undefined ? {} : { at }),
    },
  }
}

export const epoch: Format = { name: 'epoch', create: () => read }
