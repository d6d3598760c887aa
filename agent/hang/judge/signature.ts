// What ranks must agree in when they join one collective: the operation, the sizes, the element type.
import { comparable } from '../evidence/ops.ts'
import type { Op } from '../model.ts'

/** Shapes do not matter: NCCL sees counts of elements. */
export function signatureOf(op: Op): string {
  const { inputs, outputs } = comparable(op.name)
  return [op.name, inputs ? op.elements.inputs : '', outputs ? op.elements.outputs : '', op.dtypes].join(' ')
}

/** A watchdog's line has no type: it agrees with every type. */
export const agree = (one: Op, other: Op): boolean =>
  one.dtypes === '' || other.dtypes === ''
    ? signatureOf({ ...one, dtypes: '' }) === signatureOf({ ...other, dtypes: '' })
    : signatureOf(one) === signatureOf(other)

const sizeText = ({ inputs, elements }: Op): string =>
  inputs === '' ? (elements.inputs === '' ? '' : `${elements.inputs} elements`) : inputs === '[]' ? '' : inputs.replace(/^\[(\[.*\])\]$/, '$1')

export const opText = (op: Op): string =>
  op.batch !== undefined
    ? `batch of ${op.batch.slice(0, 4).map(opText).join(', ')}${op.batch.length > 4 ? ` and ${op.batch.length - 4} more` : ''}`
    : op.p2p && op.from !== undefined && op.to !== undefined
      ? [`${op.name} ${op.from} to ${op.to}`, sizeText(op)].filter((part) => part !== '').join(' of ')
      : [op.name, sizeText(op), /^\["([^"]*)"/.exec(op.dtypes)?.[1] ?? ''].filter((part) => part !== '').join(' ')

/** The smaller side of a split in two or more; undefined where no side is smaller than the rest together, so that nobody can say who is wrong. */
export function minority<Key>(sides: ReadonlyMap<Key, readonly number[]>): readonly number[] | undefined {
  const sorted = [...sides.values()].toSorted((a, b) => b.length - a.length)
  const [largest = [], ...others] = sorted
  const rest = others.flat()
  return largest.length > rest.length && rest.length > 0 ? rest.toSorted((a, b) => a - b) : undefined
}

export function sidesBy<Key>(ranks: readonly number[], key: (rank: number) => Key | undefined): Map<Key, number[]> {
  const sides = new Map<Key, number[]>()
  for (const rank of ranks) {
    const side = key(rank)
    if (side === undefined) continue
    const known = sides.get(side)
    if (known === undefined) sides.set(side, [rank])
    else known.push(rank)
  }
  return sides
}
