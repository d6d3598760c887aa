// Facts of an incident as a person reads them, on the page and in a terminal: a name in words, the figure in its unit. The name's ending says the unit.
import type { OomCause } from '../model/facts.ts'
import type { IncidentKind } from '../model/kinds.ts'
import { bytesText } from './bytes.ts'
import { megahertz, percent } from './figures.ts'
import { twoUnitSpan } from './span.ts'
import { utcText } from './time.ts'

const CAUSES: Readonly<Record<OomCause, string>> = {
  capacity: 'its own data do not fit on the card',
  fragmentation: 'free memory is in pieces too small',
  other_process: 'other processes hold the card',
  fraction_cap: 'a limit that the program set itself',
  oversized_request: 'one request larger than the card',
  private_pools: 'CUDA graphs hold it',
  non_pytorch_memory: 'memory outside PyTorch’s allocator',
}
const isCause = (text: string): text is OomCause => text in CAUSES
/** One of `causes` in words. */
export const causeText = (text: string): string => (isCause(text) ? CAUSES[text] : text)

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
  gpus_present: 'GPUs present',
  gpus_expected: 'GPUs expected',
  gpus_lost: 'GPUs lost',
  idle_gpus: 'Idle GPUs',
  ecc_uncorrected_volatile: 'Uncorrected errors since the reset',
  ecc_uncorrected_aggregate: 'Uncorrected errors, lifetime',
  causes: 'Causes, strongest first',
}

/** A name that means something narrower for one kind of incident. */
const LABELS_OF: { readonly [kind in IncidentKind]?: Readonly<Record<string, string>> } = {
  job_hang: { since_ms: 'No progress since' },
  progress_stalled: { since_ms: 'No progress since' },
  oom_restart_loop: { deaths: 'Crashes', since_ms: 'First crash' },
}
const ACRONYMS = /\b(?:gpu|pcie|nccl|http|cuda|cpu|mig|ecc|sm)\b/g

export function factLabel(name: string, kind?: IncidentKind): string {
  const known = (kind === undefined ? undefined : LABELS_OF[kind]?.[name]) ?? LABELS[name]
  if (known !== undefined) return known
  const words = name
    .replace(/_(?:bytes|ratio|celsius|watts|hertz|seconds|ms|s)$/, '')
    .replaceAll('_', ' ')
    .replace(ACRONYMS, (word) => (word === 'pcie' ? 'PCIe' : word.toUpperCase()))
  return `${words[0]?.toUpperCase() ?? ''}${words.slice(1)}`
}

/** Points in time, unlike other names in ms. */
const MOMENTS: ReadonlySet<string> = new Set(['since_ms', 'earliest_ms', 'latest_ms'])
export const isMoment = (name: string): boolean => MOMENTS.has(name)

/** A figure in a terminal: `62.7 GiB`, `85 °C`, `1200 MHz`, `5 min 50 s`, a moment in UTC. */
export function factNumber(name: string, value: number): string {
  if (name.endsWith('_bytes_per_second')) return `${bytesText(value)} per second`
  if (name.endsWith('_bytes')) return bytesText(value)
  if (name.endsWith('_ratio')) return percent(value)
  if (name.endsWith('_celsius')) return `${Math.round(value)} °C`
  if (name.endsWith('_watts')) return `${Math.round(value)} W`
  if (name.endsWith('_hertz')) return megahertz(value)
  if (MOMENTS.has(name)) return utcText(value)
  if (name.endsWith('_ms')) return value < 1000 ? `${Math.round(value)} ms` : twoUnitSpan(value)
  if (name === 'sample_age_seconds') return `${twoUnitSpan(value * 1000)} old`
  if (name.endsWith('_seconds') || name.endsWith('_s') || name === 'gpu_seconds_lost')
    return value < 10 ? `${Number(value.toFixed(2))} s` : twoUnitSpan(value * 1000)
  return String(Number(value.toFixed(2)))
}
