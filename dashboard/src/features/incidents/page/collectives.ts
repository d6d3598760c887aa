// The collectives in which ranks of a hung job wait, in the order in which they were waited in: each row has those of its rank's groups only.
import type { HangRank } from '../../../../../agent/model/facts.ts'

export function collectivesOf(rows: readonly Pick<HangRank, 'calls'>[]): readonly string[] {
  const order: string[] = []
  for (const { calls = {} } of rows) {
    const names = Object.keys(calls)
    for (const [i, name] of names.entries()) {
      if (order.includes(name)) continue
      const next = names.slice(i + 1).find((later) => order.includes(later))
      order.splice(next === undefined ? order.length : order.indexOf(next), 0, name)
    }
  }
  return order
}
