// A line that only says which epoch begins: `Epoch 3/8`, `===> Epoch 12`, `Starting epoch 4 of 10`.
import type { Format, Line, Read } from './format.ts'

const EPOCH =
  /^[\s=>*#-]{0,40}(?:(?:start(?:ing|ed)?|begin(?:ning)?|running|train(?:ing)?)\s)?epoch\s?[:#[]?\s?(\d{1,6})\]?(?:\s?(?:\/|of)\s?(\d{1,6}))?[\s=<*#.:-]{0,40}(?:\d{1,3}%)?$/i

function read({ text, at }: Line): Read | undefined {
  const found = text.length > 160 ? null : EPOCH.exec(text.trim())
  if (found === null) return undefined
  const [, epoch, epochs] = found
  return {
    observation: {
      shape: 'epoch',
      form: 'epoch',
      metrics: 0,
      epoch: Number(epoch),
      ...(epochs === undefined ? {} : { epochs: Number(epochs) }),
      ...(at === undefined ? {} : { at }),
    },
  }
}

export const epoch: Format = { name: 'epoch', create: () => read }
