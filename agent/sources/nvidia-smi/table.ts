// Reads the table that `nvidia-smi` prints by default: the least exact of its outputs, and the one that people paste.
import type { FieldId } from './field-id.ts'
import type { ParsedGpu, ParsedMig, ParsedProcess } from './gpu.ts'
import { present, wholeNumber } from './gpu.ts'
import type { Dimension, Missing } from './value.ts'
import { isMissing, parseValue } from './value.ts'

export type Table = { readonly driverVersion?: string; readonly cudaVersion?: string; readonly gpus: readonly ParsedGpu[] }

type Draft = ParsedGpu & {
  readonly index: number
  readonly values: Map<FieldId, number>
  readonly missing: Map<FieldId, Missing>
  readonly migs: ParsedMig[]
  processes?: ParsedProcess[]
}

/** Characters; the table is 79 to 131 wide. A longer line is none of it, and would take the patterns below quadratic time. */
const WIDEST = 512

/** R610 says KMD Version and CUDA UMD Version. */
const HEADER = /NVIDIA-SMI\s+\S+.*?(?:Driver|KMD) Version:\s*(\S+)(?:.*?CUDA (?:UMD )?Version:\s*(\S+))?/
const FIRST = /^\|\s*(\d{1,4})\s+(.*?)\s*\|\s*([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])\s+\S+\s*\|\s*(\S+)\s*\|$/
const SECOND = /^\|(.*)\|\s*(\S+)\s*\/\s*(\S+)\s*\|\s*(\S+)\s.*\|$/
const MIG = /^\|\s*(\d{1,4})\s+(\d{1,4})\s+(\d{1,4})\s+(\d{1,4})\s*\|\s*(\S+)\s*\/\s*(\S+)\s*\|.*\|$/
const PROCESS = /^\|\s*(\d{1,4})\s+(?:(N\/A|\d{1,4})\s+(N\/A|\d{1,4})\s+)?(\d{1,10})\s+([CGM+]{1,5})\s+(.*?)\s+(\S+)\s*\|$/

function put(
  at: { readonly values: Map<FieldId, number>; readonly missing: Map<FieldId, Missing> },
  id: FieldId,
  text: string | undefined,
  dimension: Dimension,
): void {
  if (text === undefined) return
  const value = parseValue(text, dimension)
  if (isMissing(value)) at.missing.set(id, value)
  else at.values.set(id, value)
}

/** The name is before the persistence mode (or the driver model under Windows), cut to its column. */
const nameOf = (cell: string): string => cell.replace(/\s+(On|Off|N\/A|ERR!|WDDM|TCC|MCDM)$/, '').trim()

export function readTable(text: string): Table {
  const gpus = new Map<number, Draft>()
  let header: RegExpExecArray | null = null
  let last: Draft | undefined
  let part: 'gpus' | 'migs' | 'processes' = 'gpus'
  for (const raw of text.split('\n')) {
    if (raw.length > WIDEST) continue
    const line = raw.trim()
    header ??= HEADER.exec(line)
    if (/^\|\s*MIG devices:/.test(line)) part = 'migs'
    else if (/^\|\s*Processes:/.test(line)) {
      part = 'processes'
      for (const gpu of gpus.values()) gpu.processes = []
    }
    if (part === 'gpus') {
      const first = FIRST.exec(line)
      const second = first === null && last !== undefined ? SECOND.exec(line) : null
      if (first?.[1] !== undefined) {
        last = { index: Number(first[1]), name: nameOf(first[2] ?? ''), pciBusId: first[3] ?? '', values: new Map(), missing: new Map(), migs: [] }
        gpus.set(last.index, last)
        // With MIG the column says On instead of a count.
        if (!/^(On|Off)$/.test(first[4] ?? '')) put(last, 'ecc_uncorrected_volatile', first[4], 'count')
      } else if (second !== null && last !== undefined) {
        const [fan, temperature, state, power, , limit] = (second[1] ?? '').trim().split(/\s+/)
        put(last, 'fan_speed', fan, 'ratio')
        put(last, 'temperature', temperature, 'celsius')
        put(last, 'performance_state', state, 'pstate')
        put(last, 'power', power, 'watts')
        put(last, 'power_limit', limit, 'watts')
        put(last, 'memory_used', second[2], 'bytes')
        put(last, 'memory_total', second[3], 'bytes')
        put(last, 'utilization', second[4], 'ratio')
        last = undefined
      }
    } else if (part === 'migs') {
      const mig = MIG.exec(line)
      const gpu = gpus.get(Number(mig?.[1] ?? -1))
      if (mig !== null && gpu !== undefined) {
        const found = {
          gi: Number(mig[2]),
          ci: Number(mig[3]),
          index: Number(mig[4]),
          values: new Map<FieldId, number>(),
          missing: new Map<FieldId, Missing>(),
        }
        put(found, 'memory_used', mig[5], 'bytes')
        put(found, 'memory_total', mig[6], 'bytes')
        gpu.migs.push(found)
      }
    } else {
      const process = PROCESS.exec(line)
      const gpu = gpus.get(Number(process?.[1] ?? -1))
      if (process !== null && gpu !== undefined) {
        const [gi, ci, name, bytes] = [wholeNumber(process[2]), wholeNumber(process[3]), present(process[6]), parseValue(process[7] ?? '', 'bytes')]
        gpu.processes?.push({
          pid: Number(process[4]),
          type: process[5] ?? 'C',
          ...(name === undefined ? {} : { name }),
          bytes: isMissing(bytes) ? null : bytes,
          ...(gi === undefined || ci === undefined ? {} : { gi, ci }),
        })
      }
    }
  }
  const [driverVersion, cudaVersion] = [present(header?.[1]), present(header?.[2])]
  return { ...(driverVersion === undefined ? {} : { driverVersion }), ...(cudaVersion === undefined ? {} : { cudaVersion }), gpus: [...gpus.values()] }
}
