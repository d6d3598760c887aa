// How much memory a killed process had wanted or used, by what its server and systemd say beside it.
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import { around, whole } from '../parts/window.ts'
import { bytesOf } from '../quantity.ts'

const AMOUNT = '"?([\\d.]{1,9}) ?([KMGT]i?B)'
const last = (text: string, pattern: RegExp): number | undefined => {
  const [, amount, unit] = [...text.matchAll(pattern)].at(-1) ?? []
  return amount === undefined ? undefined : bytesOf(amount, unit)
}
const FREE = new RegExp(`msg="system memory"[^\\n]{0,40} free=${AMOUNT}`, 'g')
const SEEN = new RegExp(`msg="system memory" total=${AMOUNT}`, 'g')
const WHOLE = new RegExp(`memory\\.required\\.full=${AMOUNT}`, 'g')
const ON_GPU = new RegExp(`memory\\.required\\.partial=${AMOUNT}`, 'g')

/** Ollama writes its estimate before it starts the runner (fs/ggml, llm/memory.go): with a sentence where the host had less than what stays there. */
export function ollamaEstimate(text: string): string {
  const [whole, free, onGpu = 0] = [last(text, WHOLE), last(text, FREE), last(text, ON_GPU)]
  const all = last(text, SEEN)
  if (free !== undefined && whole === undefined && all !== undefined) return ` Ollama had found ${gib(free)} of ${gib(all)} of host memory free before.`
  if (whole === undefined || free === undefined || whole - onGpu < 0.8 * free) return ''
  return ` Ollama's estimate was ${gib(whole)} for the whole model${onGpu > 0 ? `, of which ${gib(onGpu)} were to go to the GPU` : ''}; the host had ${gib(free)} free.`
}

/** "ollama.service: Consumed 32.964s CPU time, 123.9G memory peak." of a unit; systemd counts in units of 1024. */
export function unitPeak(text: string): string {
  const [, amount, unit] = /(?:\.service: |^)Consumed [^\n]{1,80}? ([\d.]{1,8})([MGT]) memory peak/m.exec(text) ?? []
  return amount === undefined ? '' : ` It used ${amount} ${unit}iB at its peak.`
}

/** "Limits: … memory: 32Gi" of kubectl describe, "Memory": 4294967296 of docker inspect. */
export function limitNear(text: readonly string[], at: number): number | undefined {
  const near = around(text, at, 30, 30)
  const [, amount, unit = ''] = /\bLimits:\s{1,12}(?:[\w./-]{1,60}: {1,20}\S{1,20}\s{1,12}){0,3}?memory: {1,20}(\d{1,9})([KMGT]i?)(?!\w)/.exec(near) ?? []
  // "6G" is of 1000, "6Gi" of 1024.
  return amount === undefined
    ? whole(/"Memory": ?([1-9]\d{5,15})\b/.exec(near)?.[1])
    : Number(amount) * (unit.endsWith('i') ? 1024 : 1000) ** ('KMGT'.indexOf(unit.charAt(0)) + 1)
}

const MIB = 2 ** 20
/**
 * "Job 7 exceeded memory limit (626359956 > 512000000), being killed" of Slurm's own watch (jobacct_gather): in KiB until release 17.11, in bytes since, without
 * a unit. A limit is asked for in whole MiB, so that most figures can only be one of them; where both are possible the size decides.
 */
export function overLimit(text: string): { readonly used: number; readonly limit: number } | undefined {
  const [, used, limit] = (/exceeded memory limit \((\d{4,15}) > (\d{4,15})\), being killed/.exec(text) ?? []).map(Number)
  if (used === undefined || limit === undefined) return undefined
  if (limit % MIB !== 0) return { used: used * 1024, limit: limit * 1024 }
  // 1 GiB and more in bytes; as KiB it were 1 TiB.
  return limit >= 1024 * MIB ? { used, limit } : limit <= 64 * MIB ? { used: used * 1024, limit: limit * 1024 } : undefined
}
