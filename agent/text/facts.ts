// Facts of an incident as a person reads them, on the dashboard and in a terminal: a name in words, the figure in its unit. The name's ending says the unit.
import type { Facts, OomCause } from '../model/facts.ts'
import type { IncidentKind } from '../model/kinds.ts'
import { gib } from './bytes.ts'
import { megahertz, percent } from './figures.ts'
import { twoUnitSpan } from './span.ts'
import { throttleWord } from './throttle.ts'

/** What a reader may have set. */
export type FactFormat = {
  /** Of Unix ms. */
  readonly moment: (ms: number) => string
  readonly celsius: (celsius: number) => string
}
export type FactRow = { readonly name: string; readonly label: string; readonly value: string }

const CAUSES: Readonly<Record<OomCause, string>> = {
  capacity: 'its own data do not fit on the card',
  fragmentation: 'free memory is in pieces too small',
  other_process: 'other processes hold the card',
  fraction_cap: 'a limit that the program set itself',
  oversized_request: 'one request larger than the card',
  private_pools: 'CUDA graphs hold it',
  non_pytorch_memory: 'memory outside PyTorch’s allocator',
}

/** Where the name's own words would mislead or be a riddle. */
const LABELS: Readonly<Record<string, string>> = {
  total_bytes: 'Total capacity',
  free_bytes: 'Free',
  requested_bytes: 'Asked for',
  allocated_bytes: 'In use by PyTorch',
  reserved_bytes: 'Reserved by PyTorch',
  reserved_unallocated_bytes: 'Reserved, not in use',
  allowed_bytes: 'Allowed to the program',
  process_bytes: 'Held by the process',
  grown_bytes: 'Grown by',
  since_ms: 'Grown since',
  slope_bytes_per_second: 'Grows by',
  earliest_ms: 'Full at the earliest',
  latest_ms: 'Full at the latest',
  headroom_bytes: 'Left above the peak',
  gpu_seconds_lost: 'GPU time lost',
  pci_bus_id: 'PCI address',
  xid: 'Xid',
  sxid: 'SXid',
  pid: 'PID',
  anon_rss_bytes: 'Host memory held',
  total_vm_bytes: 'Address space',
  sm_clock_hertz: 'SM clock',
  sm_clock_before_hertz: 'SM clock before',
  sm_clock_max_hertz: 'SM clock at most',
  sample_age_seconds: 'Newest reading',
  affected: 'Affected',
  recovery_action: 'The driver wants',
  gpus: 'GPUs',
  power_limit_default_watts: 'Default power limit',
  gpus_present: 'GPUs present',
  gpus_expected: 'GPUs expected',
  gpus_lost: 'GPUs lost',
  idle_gpus: 'Idle GPUs',
  ecc_uncorrected_volatile: 'Uncorrected errors since the reset',
  ecc_uncorrected_aggregate: 'Uncorrected errors, lifetime',
  causes: 'Causes, strongest first',
  hang_cause: 'Cause',
  culprit_ranks: 'Held up by rank',
  waits_in: 'Others wait in',
  call_sites: 'Calls',
}

/** A name that means something narrower for one kind of incident. */
const LABELS_OF: { readonly [kind in IncidentKind]?: Readonly<Record<string, string>> } = {
  job_hang: { since_ms: 'No progress since' },
  progress_stalled: { since_ms: 'No progress since' },
  oom_restart_loop: { deaths: 'Crashes', since_ms: 'First crash' },
}

/** Unix ms. */
export const MOMENTS: ReadonlySet<string> = new Set(['since_ms', 'earliest_ms', 'latest_ms'])
const ACRONYMS = /\b(?:gpu|pcie|nccl|http|cuda|cpu|mig|ecc|sm)\b/g

export function factLabel(name: string): string {
  const known = LABELS[name]
  if (known !== undefined) return known
  const words = name
    .replace(/_(?:bytes|ratio|celsius|watts|hertz|seconds|ms|s)$/, '')
    .replaceAll('_', ' ')
    .replace(ACRONYMS, (word) => (word === 'pcie' ? 'PCIe' : word.toUpperCase()))
  return `${words[0]?.toUpperCase() ?? ''}${words.slice(1)}`
}

/** Of a job that hangs, as the judgement calls them. */
const HANG_CAUSES: Readonly<Record<string, string>> = {
  missing: 'a rank did not join',
  mismatch: 'ranks disagree in a collective',
  order: 'collectives in another order',
  dead: 'a rank ended',
  left_early: 'a rank had fewer batches',
  stuck: 'its process does not go on',
  exception: 'a rank failed',
  kernel: 'a GPU kernel does not end',
  transport: 'the connection between ranks',
  straggler: 'a rank is slower',
  slow_phase: 'a rank works alone',
  late: 'a rank joined too late',
  none: 'unknown',
}

const isCause = (text: string): text is OomCause => text in CAUSES
let format: Intl.NumberFormat | undefined
/** Made for the first fact: it loads the tables of a language. */
const plain = (value: number): string => (format ??= new Intl.NumberFormat('en', { maximumFractionDigits: 2, useGrouping: false })).format(value)

function numberText(name: string, value: number, { moment, celsius }: FactFormat): string {
  if (name.endsWith('_bytes_per_second')) return `${gib(value)} per second`
  if (name.endsWith('_bytes')) return gib(value)
  if (name.endsWith('_ratio')) return percent(value)
  if (name.endsWith('_celsius')) return celsius(value)
  if (name.endsWith('_watts')) return `${value.toFixed(0)} W`
  if (name.endsWith('_hertz')) return megahertz(value)
  if (MOMENTS.has(name)) return moment(value)
  if (name.endsWith('_ms')) return value < 1000 ? `${plain(value)} ms` : twoUnitSpan(value)
  if (name === 'sample_age_seconds') return `${twoUnitSpan(value * 1_000)} old`
  if (name.endsWith('_seconds') || name.endsWith('_s') || name === 'gpu_seconds_lost') return value < 10 ? `${plain(value)} s` : twoUnitSpan(value * 1_000)
  return plain(value)
}

function others(list: NonNullable<Facts['other_processes']>): string {
  return list.map(({ pid, bytes }) => `${gib(bytes)}${pid === undefined ? '' : ` (pid ${pid})`}`).join(', ')
}

const wordOf = (name: string, text: string): string =>
  name === 'causes' && isCause(text) ? CAUSES[text] : name === 'active_reasons' ? throttleWord(text).text : text

function valueText(name: string, value: Facts[keyof Facts], format: FactFormat): string {
  if (typeof value === 'number') return numberText(name, value, format)
  if (typeof value === 'string') return name === 'hang_cause' ? (HANG_CAUSES[value] ?? value) : value
  if (value === undefined) return ''
  const listed = name === 'gpus' ? value.toSorted((a, b) => Number(a) - Number(b)) : value
  return listed
    .map((each) => (typeof each === 'string' ? wordOf(name, each) : 'bytes' in each ? others([each]) : ''))
    .join(name === 'causes' || name === 'active_reasons' ? '; ' : ', ')
}

/** In the order in which the judgment gave them; the causes, which explain the rest, first. What is not known is not there. */
export function factRows(facts: Facts, format: FactFormat, kind?: IncidentKind): readonly FactRow[] {
  const rows: FactRow[] = []
  let name: keyof Facts
  for (name in facts) {
    const value = facts[name]
    // The subject has the GPU's number; the log may count GPUs differently.
    // The ranks of a job have a table of their own, and how sure the verdict is is below it.
    if (value === undefined || name === 'gpu_index' || name === 'ranks' || name === 'confidence' || (Array.isArray(value) && value.length === 0)) continue
    const single = name === 'causes' && Array.isArray(value) && value.length === 1 ? 'Cause' : undefined
    rows.push({ name, label: single ?? (kind === undefined ? undefined : LABELS_OF[kind]?.[name]) ?? factLabel(name), value: valueText(name, value, format) })
  }
  // What PyTorch reserved is read beside what it uses of it.
  const used = rows.findIndex((row) => row.name === 'allocated_bytes')
  const reserved = rows.findIndex((row) => row.name === 'reserved_bytes')
  if (used >= 0 && reserved > used) rows.splice(used + 1, 0, ...rows.splice(reserved, 1))
  return rows.toSorted((a, b) => Number(b.name === 'causes') - Number(a.name === 'causes'))
}
