// How each source of the agent is: whether it reads, when it last did, what it could not.
import { isObject } from '../../parts/connection/api.ts'
import type { Figures } from './figures.ts'
import { agentSourceDurationSeconds, agentSourceUp } from '../../text/metric-names.ts'

/** A row of `/api/v1/sources`. */
export type GroupRow = { readonly source: string; readonly group: string; readonly t: number; readonly readings: number; readonly gaps: number }
/** A row of `/api/v1/gaps`. */
export type GapEntry = {
  readonly source: string
  readonly t: number
  readonly metric: string
  readonly labels: Readonly<Record<string, string>>
  readonly reason: string
  readonly code?: number
  readonly detail?: string
}

/** `partly`: it reads, but not all that it is for; `absent`: this host does not have what it reads, or it is switched off; `silent`: it should read, and does not. */
export type SourceStatus = 'reads' | 'partly' | 'absent' | 'silent'
export type SourceRow = {
  readonly source: string
  readonly status: SourceStatus
  /** Why it does not read, or not all. */
  readonly why: GapEntry | undefined
  /** Unix ms of its newest reading; undefined when none is kept any more. */
  readonly newest: number | undefined
  readonly tookSeconds: number | undefined
  readonly readings: number
  readonly gaps: number
}

const isGroup = (value: unknown): value is GroupRow =>
  isObject(value) && typeof value['source'] === 'string' && ['t', 'readings', 'gaps'].every((key) => typeof value[key] === 'number')
const isGap = (value: unknown): value is GapEntry =>
  isObject(value) && ['source', 'metric', 'reason'].every((key) => typeof value[key] === 'string') && isObject(value['labels'])

function listOf<Row>(what: string, value: unknown, is: (each: unknown) => each is Row): readonly Row[] {
  if (!Array.isArray(value) || !value.every(is)) throw new Error(`${what} must be a list of ${what}, not ${JSON.stringify(value)?.slice(0, 80)}`)
  return value
}
export const parseGroups = (value: unknown): readonly GroupRow[] => listOf('sources', value, isGroup)
export const parseGaps = (value: unknown): readonly GapEntry[] => listOf('gaps', value, isGap)

/** The group of what a source counts of itself (its connections, its restarts). */
const SELF = 'self'
/** Not one figure, but all of what the source reads, or (with labels) all of one GPU. */
export const isAll = ({ metric, source }: GapEntry): boolean => metric === source
export const isWhole = (gap: GapEntry): boolean => isAll(gap) && Object.keys(gap.labels).length === 0

export function sourceRows(groups: readonly GroupRow[], gaps: readonly GapEntry[], figures: Figures): readonly SourceRow[] {
  const names = new Set([...figures.all(agentSourceUp).map(({ labels }) => labels['source'] ?? ''), ...groups.map(({ source }) => source)])
  return [...names].map((source) => {
    const own = groups.filter((group) => group.source === source)
    const why = gaps.find((gap) => gap.source === source && isWhole(gap))
    const up = figures.one(agentSourceUp, { source }) !== 0
    // What it counts of itself is no reading of the host; where nothing is wrong it is a sign of life.
    const reported = own.filter(({ group, readings }) => readings > 0 && (why === undefined || group !== SELF))
    const times = reported.map(({ t }) => t)
    // It looks, and misses nothing: there is none, as containers on a host that runs none.
    const none = own.length > 0 && own.every(({ readings, gaps: missed }) => readings === 0 && missed === 0)
    const whole = none ? 'absent' : up ? 'reads' : 'silent'
    const reduced = reported.length > 0 ? 'partly' : why?.reason === 'not_supported' ? 'absent' : 'silent'
    return {
      source,
      status: why === undefined ? whole : reduced,
      why,
      newest: times.length === 0 ? undefined : Math.max(...times),
      tookSeconds: figures.one(agentSourceDurationSeconds, { source }),
      readings: reported.reduce((sum, { readings }) => sum + readings, 0),
      gaps: own.reduce((sum, each) => sum + each.gaps, 0),
    }
  })
}
