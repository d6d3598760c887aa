// A program that ran out of memory, caught it, and goes on with half of the work at a time: detected from the allocator's counters where no log says so.
import type { TypedFinding } from '../../../model/finding.ts'
import { gib } from '../../../text/bytes.ts'
import { percent } from '../../../text/figures.ts'
import { timesText, upperFirst } from '../../../text/grammar.ts'
import { defineDetector } from '../definition.ts'
import { createHandled, type Handled } from './handled-oom.ts'
import { aboutOf, gpuText, processText } from '../parts/who.ts'
import type { Track } from '../parts/tracks.ts'

const REMEDIES = [
  { text: 'Set the size that fits from the start: each failed try costs time, and a changed batch changes training (learning rate, batch norm).' },
  { text: 'Keep the effective batch with gradient accumulation: twice the steps for half the batch.' },
] as const

export const batchHalving = defineDetector({
  id: 'batch-halving',
  kinds: ['batch_halving'],
  title: 'Out of memory, going on with about half',
  severity: 'info',
  watches: [],
  everyMs: 30_000,
  options: {
    ratio_low: { default: 0.4, min: 0.1, max: 0.9, help: 'working memory afterwards as a part of what it was: from' },
    ratio_high: { default: 0.6, min: 0.2, max: 0.95, help: 'working memory afterwards as a part of what it was: to' },
  },
  expression: { none: 'whether a process works on with less memory follows only from comparing its peaks before and after' },
  create: ({ ratio_low: low, ratio_high: high }, { tracks }) => {
    const handled = createHandled(tracks)

    const halved = (track: Track, { before, after, ooms, t, floor }: Handled): TypedFinding => {
      const where = gpuText(tracks, track.uuid)
      return {
        kind: 'batch_halving',
        key: `${track.key} ${t}`,
        about: aboutOf(track),
        state: 'faulty',
        severity: 'info',
        title: `${upperFirst(processText(track))} ran out of GPU memory and goes on with about half the batch`,
        verdict: `${upperFirst(processText(track))} ran out of memory on ${where} ${timesText(ooms)}, caught it, and goes on: beside the ${gib(floor)} that it always holds, its work now needs at most ${gib(after)} at once, ${percent(after / before)} of the ${gib(before)} before. It recovered by itself, but works with smaller pieces than it was set up for.`,
        facts: { peak_bytes: floor + before },
        remedies: REMEDIES,
      }
    }

    return {
      ingest: handled.ingest,
      judge(t) {
        const found: TypedFinding[] = []
        for (const [track, one] of handled.settled(t)) {
          const ratio = one.after / one.before
          if (ratio >= low && ratio <= high) found.push(halved(track, one))
        }
        return found
      },
    }
  },
})
