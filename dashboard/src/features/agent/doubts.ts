// "Is this data current?": everything that speaks against it, the worst first.
import { countedLarge } from '../../../../agent/text/grammar.ts'
import { age } from '../../../../agent/text/span.ts'
import { timeWithSeconds } from '../../../../agent/text/time.ts'
import { reasonText, sourceName } from '../../text/agent.ts'
import type { Figures } from './figures.ts'
import { isAll, isWhole, type GapEntry, type SourceRow } from './source-rows.ts'
import {
  agentConsumerFailuresTotal,
  agentHistoryDegraded,
  agentLogSkippedTotal,
  agentSamplerHangsTotal,
  agentSinkDroppedTotal,
} from '../../text/metric-names.ts'

/** `bad`: do not believe it; `warn`: a part of it; `note`: worth knowing, and true all the same. */
export type Doubt = { readonly level: 'bad' | 'warn' | 'note'; readonly text: string }
export type Evidence = {
  readonly sources: readonly SourceRow[]
  readonly gaps: readonly GapEntry[]
  readonly figures: Figures
  readonly simulated: boolean
  /** Seconds since the last frame, where that is too long. */
  readonly silentFor: number | undefined
  readonly lastFrame: number | undefined
  /** GPUs that do not answer, as the status line tells them. */
  readonly gpusInTrouble: readonly string[]
  readonly gpus: number
  /** By how much this device's clock is ahead of the agent's. */
  readonly clockAheadMs: number
  readonly now: number
}

/** Below this it is the way of the frame, and nobody notices. */
const CLOCKS_DIFFER_MS = 5_000

const whyText = ({ detail, reason }: GapEntry): string => detail ?? reasonText(reason)

function ofSources({ sources, now }: Evidence): readonly Doubt[] {
  return sources.flatMap(({ source, status, why, newest }): readonly Doubt[] => {
    const name = sourceName(source)
    if (status === 'silent') {
      const since = newest === undefined ? 'nothing is read' : `nothing was read for ${age((now - newest) / 1000)}`
      return [{ level: 'warn', text: `${name}: ${why === undefined ? since : whyText(why)}` }]
    }
    if (why === undefined || status === 'absent') return []
    return [{ level: why.reason === 'not_supported' ? 'note' : 'warn', text: `${name}: ${whyText(why)}` }]
  })
}

function noGpu({ gaps }: Evidence): string {
  const why = gaps.find((gap) => gap.source === 'gpu' && isWhole(gap))
  return why === undefined ? 'No GPU is read' : `No GPU is read: ${whyText(why)}`
}

function ofGaps({ gaps, simulated }: Evidence): readonly Doubt[] {
  const byReason = new Map<string, number>()
  // The others are told as a source's, or as a GPU's trouble.
  for (const gap of gaps) if (!isAll(gap)) byReason.set(gap.reason, (byReason.get(gap.reason) ?? 0) + 1)
  return [...byReason].map(([reason, number]) =>
    reason === 'not_supported'
      ? {
          level: 'note',
          text: `${countedLarge(number, 'figure is', 'figures are')} not offered by ${simulated ? 'the simulated hardware' : 'this hardware or driver'}`,
        }
      : { level: 'warn', text: `${countedLarge(number, 'figure', 'figures')} missing: ${reasonText(reason)}` },
  )
}

function ofFigures({ figures }: Evidence): readonly Doubt[] {
  const found: Doubt[] = []
  const reported = (level: Doubt['level'], name: string, text: (value: number) => string, labels?: Readonly<Record<string, string>>): void => {
    const value = figures.sum(name, labels)
    if (value !== undefined && value > 0) found.push({ level, text: text(value) })
  }
  reported('warn', agentHistoryDegraded, () => 'History cannot be written to disk: the past is kept in memory, and lost with the agent')
  reported('warn', agentConsumerFailuresTotal, (n) => `A part of the agent failed on ${countedLarge(n, 'event', 'events')}; its log says how`)
  reported('note', agentLogSkippedTotal, (n) => `${countedLarge(n, 'line', 'lines')} of logs skipped or cut: a fault reported in one of them may be missing`)
  reported('note', agentSinkDroppedTotal, (n) => `${countedLarge(n, 'frame was', 'frames were')} left out for readers that were too slow`, {
    sink: 'live',
  })
  reported('note', agentSamplerHangsTotal, (n) => `The driver hung ${countedLarge(n, 'time', 'times')} since the agent’s start`)
  return found
}

const RANK = { bad: 0, warn: 1, note: 2 } as const

export function doubts(evidence: Evidence): readonly Doubt[] {
  const { simulated, silentFor, lastFrame, gpusInTrouble, gpus, clockAheadMs } = evidence
  const found: Doubt[] = []
  if (silentFor !== undefined)
    found.push({
      level: 'bad',
      text: `No news from the agent for ${age(silentFor)}${lastFrame === undefined ? '' : `: all figures are of ${timeWithSeconds(lastFrame)}`}`,
    })
  if (simulated) found.push({ level: 'bad', text: 'All figures are simulated: the agent runs with --simulate' })
  for (const text of gpusInTrouble) found.push({ level: 'warn', text })
  if (gpus === 0) found.push({ level: 'warn', text: noGpu(evidence) })
  if (Math.abs(clockAheadMs) > CLOCKS_DIFFER_MS)
    found.push({
      level: 'note',
      text: `This device’s clock is ${age(Math.abs(clockAheadMs) / 1000)} ${clockAheadMs > 0 ? 'ahead of' : 'behind'} the agent’s, whose times are shown`,
    })
  found.push(...ofSources(evidence), ...ofGaps(evidence), ...ofFigures(evidence))
  return found.toSorted((a, b) => RANK[a.level] - RANK[b.level])
}

type Verdict = { readonly level: 'good' | 'warn' | 'bad'; readonly text: string }

export function verdictOf(found: readonly Doubt[], { silentFor, simulated }: Pick<Evidence, 'silentFor' | 'simulated'>): Verdict {
  if (silentFor !== undefined) return { level: 'bad', text: 'No: it is old' }
  if (simulated) return { level: 'bad', text: 'No: it is simulated' }
  return found.some(({ level }) => level === 'warn') ? { level: 'warn', text: 'Yes, but incomplete' } : { level: 'good', text: 'Yes' }
}
