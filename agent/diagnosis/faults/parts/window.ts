// What families share to look around a line: the message joined with the lines it wraps onto, and the text near it.
import type { Facts } from '../../../model/facts.ts'
import { bareKernelText } from '../../../text/line-prefix.ts'
import type { LogText } from '../family.ts'

/** The line at `at` and up to `more` lines after it as one, for messages that a terminal or a mail wrapped. */
export function wrapped(text: LogText, at: number, more = 2): string {
  let joined = text[at] ?? ''
  for (let next = at + 1; next <= at + more && next < text.length; next++) joined += ` ${bareKernelText(text[next] ?? '')}`
  return joined
}

/** Lines from `before` above to `after` below, with their line ends. */
export const around = (text: LogText, at: number, before: number, after: number): string => text.slice(Math.max(0, at - before), at + after + 1).join('\n')

/** Index of the first line in a range that matches, or undefined. */
export function lineWith(text: LogText, from: number, to: number, pattern: RegExp): number | undefined {
  for (let line = Math.max(0, from); line <= to && line < text.length; line++) if (pattern.test(text[line] ?? '')) return line
  return undefined
}

type Maybe<T> = { readonly [K in keyof T]?: T[K] | undefined }

/** Facts without those that the text does not state. */
export const known = (facts: Maybe<Facts>): Facts => Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))

/** A whole decimal number, or undefined for anything else. */
export const whole = (digits: string | undefined): number | undefined => (digits !== undefined && /^\d{1,15}$/.test(digits) ? Number(digits) : undefined)

/** A PCI address as the kernel writes it: lower case, four digits of domain at least, eight only where they say something. */
export const pciBusId = (address: string): string => address.toLowerCase().replace(/^0000(?=[0-9a-f]{4}:)/, '')

const CUDA_CODE =
  /\b(?:CUDA|Cuda|cuda)(?: driver| runtime)? (?:error|failure|Error)(?: code)?[:=]? {0,2}(\d{1,3})\b|\bCUDA error \((\d{3})\)|(?<!NCCL )\bError (\d{1,3}): |\bcudaError_?t?\((\d{1,3})\)|\bcall to cu\w{2,40} returned error (\d{1,3})\b/

/** The number of CUDA's error, where a message gives it. */
export function cudaErrorCode(message: string): number | undefined {
  const match = CUDA_CODE.exec(message)
  return whole(match?.[1] ?? match?.[2] ?? match?.[3] ?? match?.[4] ?? match?.[5])
}

/** GPU that ggml and others name as "current device"; an index as the program counts, which CUDA_VISIBLE_DEVICES may shift. */
export const currentDevice = (message: string): number | undefined => whole(/\bcurrent device: (\d{1,3})\b/.exec(message)?.[1])

/** NCCL passes on what others broke. */
export const inNccl = ({ message, match }: { readonly message: string; readonly match: RegExpExecArray }): boolean =>
  /NCCL WARN|NCCL error/.test(message.slice(0, match.index))
