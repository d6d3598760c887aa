// Compares the utilization by process that an agent shows with the truth of a scene: how far the worst process is off, and the worst sum over all of them.
import * as z from 'zod'
import { process as processSchema } from '../../agent/http/api/schemas.ts'
import type { UseScene } from './use-scene.ts'

export type ShareCheck = {
  /** Looks at the first card of the scene now; a look in which a process has just come or gone is of before, and does not count. */
  readonly look: (json: (path: string) => Promise<unknown>) => Promise<void>
  /** In points of the card's utilization, 0 to 1; `looks`: how many counted. */
  readonly worst: { readonly own: number; readonly sum: number; readonly looks: number }
}

const totalOf = (shares: ReadonlyMap<number, number>): number => [...shares.values()].reduce((all, share) => all + share, 0)

export function createShareCheck(scene: Pick<UseScene, 'shares'>): ShareCheck {
  const worst = { own: 0, sum: 0, looks: 0 }
  return {
    worst,
    async look(json) {
      const truth = scene.shares()
      const rows = z.array(processSchema).parse(await json('/api/v1/processes'))
      const found = rows.flatMap(({ pid, gpu, gpu_utilization_ratio: ratio }) => (gpu === '0' && ratio !== undefined && truth.has(pid) ? [{ pid, ratio }] : []))
      if (found.length !== truth.size || found.length === 0) return
      worst.looks++
      for (const { pid, ratio } of found) worst.own = Math.max(worst.own, Math.abs(ratio - (truth.get(pid) ?? 0)))
      worst.sum = Math.max(worst.sum, Math.abs(found.reduce((all, { ratio }) => all + ratio, 0) - totalOf(truth)))
    },
  }
}
