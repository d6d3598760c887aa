// Turns one printed value of nvidia-smi into a number in base units, or says why there is none.
import { lookup } from '../../text/lookup.ts'
import type { GapReason } from '../../model/reading.ts'

/** Why a value is missing; `code` is the NVML return code behind the text (nvml-abi, return codes). */
export type Missing = { readonly reason: GapReason; readonly code?: number; readonly text: string }

export type Dimension =
  'bytes' | 'ratio' | 'watts' | 'hertz' | 'celsius' | 'seconds' | 'bytes_per_second' | 'count' | 'flag' | 'pstate' | 'compute_mode' | 'recovery_action'

/** To the base unit: multiply, or divide, which for a decimal fraction is exact where a product with 1e-6 is not. */
type Unit = { readonly times: number } | { readonly per: number }
const times = (factor: number): Unit => ({ times: factor })
const per = (divisor: number): Unit => ({ per: divisor })

/** '' is the unit that `--format=csv,nounits` leaves out. */
const UNITS: Readonly<Record<Exclude<Dimension, 'flag' | 'pstate' | 'compute_mode' | 'recovery_action'>, Readonly<Record<string, Unit>>>> = {
  // nvidia-smi divides by 2^20; dmon and pmon head the same number with MB.
  bytes: { '': times(2 ** 20), b: times(1), bytes: times(1), kib: times(2 ** 10), mib: times(2 ** 20), mb: times(2 ** 20), gib: times(2 ** 30) },
  ratio: { '': per(100), '%': per(100) },
  watts: { '': times(1), w: times(1), mw: per(1e3) },
  hertz: { '': times(1e6), hz: times(1), khz: times(1e3), mhz: times(1e6), ghz: times(1e9) },
  celsius: { '': times(1), c: times(1) },
  // Throttle counters: microseconds here, nanoseconds in NVML.
  seconds: { '': per(1e6), ns: per(1e9), us: per(1e6), ms: per(1e3), s: times(1) },
  bytes_per_second: { '': times(1e3), 'kb/s': times(1e3), 'mb/s': times(1e6), 'gb/s': times(1e9) },
  count: { '': times(1), x: times(1) },
}

const FLAGS: Readonly<Record<string, number>> = { yes: 1, active: 1, enabled: 1, no: 0, 'not active': 0, disabled: 0 }

/** Words that stand for NVML's numbers: nvmlComputeMode_t, nvmlDeviceGpuRecoveryAction_t. */
const WORDS: Readonly<Record<'compute_mode' | 'recovery_action', Readonly<Record<string, number>>>> = {
  compute_mode: { default: 0, 'exclusive thread': 1, exclusive_thread: 1, prohibited: 2, 'exclusive process': 3, exclusive_process: 3 },
  recovery_action: {
    none: 0,
    reset: 1,
    'gpu reset': 1,
    reboot: 2,
    'node reboot': 2,
    'drain p2p': 3,
    'drain and reset': 4,
    'recover imex domain': 5,
    'bus reset': 6,
    'system reboot': 7,
  },
}

const NOT_SUPPORTED = { reason: 'not_supported', code: 3 } as const
const MISSING_TEXTS: readonly (readonly [pattern: RegExp, missing: Omit<Missing, 'text'>])[] = [
  [/^(n\/a|not supported|not available|-|none|)$/, NOT_SUPPORTED],
  [/deprecated/, { reason: 'not_supported', code: 26 }],
  [/^function not found/, { reason: 'not_supported', code: 13 }],
  [/^(no data|not ready)/, { reason: 'not_supported', code: 21 }],
  [/^not found/, { reason: 'not_supported', code: 6 }],
  [/insufficient permission|no permission/, { reason: 'no_permission', code: 4 }],
  [/gpu is lost|gpu_lost|fallen off the bus/, { reason: 'gpu_lost', code: 15 }],
  [/requires reset|reset required/, { reason: 'reset_required', code: 16 }],
  [/time(d )?-?out/, { reason: 'timeout', code: 10 }],
  [/^(err!?|unknown error|error)$/, { reason: 'driver_error', code: 999 }],
  [/insufficient power|insufficient external power/, { reason: 'driver_error', code: 8 }],
]

/** Why this text is no value; undefined when it is not one of the driver's known words for that. */
export function missingFrom(text: string): Missing | undefined {
  const word = text
    .replace(/^\[|\]$/g, '')
    .trim()
    .toLowerCase()
  for (const [pattern, missing] of MISSING_TEXTS) if (pattern.test(word)) return { ...missing, text }
  return undefined
}

export const isMissing = (value: number | Missing): value is Missing => typeof value !== 'number'

/** A number in base units, or why not. `unit` is the one of a CSV header (`memory.used [MiB]`), for values printed without. */
export function parseValue(text: string, dimension: Dimension, unit = ''): number | Missing {
  const trimmed = text.trim()
  const wrong = (): Missing => missingFrom(trimmed) ?? { reason: 'parse_error', text: trimmed.slice(0, 80) }
  if (dimension === 'flag') return lookup(FLAGS, trimmed.toLowerCase()) ?? (/^[01]$/.test(trimmed) ? Number(trimmed) : wrong())
  if (dimension === 'compute_mode' || dimension === 'recovery_action') return WORDS[dimension][trimmed.toLowerCase()] ?? wrong()
  if (dimension === 'pstate') {
    const state = /^P(\d{1,2})$/i.exec(trimmed)?.[1]
    return state === undefined || Number(state) > 15 ? wrong() : Number(state)
  }
  const match = /^(-?\d{1,20}(?:\.\d{1,20})?)\s*([A-Za-z%/]*)$/.exec(trimmed)
  if (match?.[1] === undefined) return wrong()
  const scale = UNITS[dimension][(match[2] === undefined || match[2] === '' ? unit : match[2]).toLowerCase()]
  if (scale === undefined) return wrong()
  const value = 'per' in scale ? Number(match[1]) / scale.per : Number(match[1]) * scale.times
  return !Number.isFinite(value) || (value < 0 && dimension !== 'celsius') ? wrong() : value
}
