// Messages that libraries raise for one known reason each: what they mean and what to change, in place of the advice of their kind.
import type { Piece } from '../../faults/remedies/plan.ts'
import { compilerSaid } from '../compiler-error.ts'
import { openFrame, quote, type EndTold } from '../end-kind.ts'
import { LIBRARIES } from './libraries.ts'
import { PACKAGES } from './packages.ts'
import { SETUP } from './setup.ts'
import { TENSORS } from './tensors.ts'
import { TRAINING } from './training.ts'
import type { Known } from './message.ts'

const KNOWN: readonly Known[] = [...TRAINING, ...SETUP, ...TENSORS, ...LIBRARIES, ...PACKAGES]

export type KnownMessage = { readonly says: string | undefined; readonly remedies: readonly Piece[] }

/** Undefined where the message has more reasons than one, or is not known. */
export function knownMessage(told: EndTold): KnownMessage | undefined {
  const { error } = told
  if (error === undefined) return undefined
  const compiler = compilerSaid(told)
  const words =
    error.name !== undefined && /Tracer|Concretization/.test(error.name)
      ? `${error.name} ${error.message}`
      : `${error.message}\n${error.tail}${compiler === undefined ? '' : `\n${compiler}`}`
  for (const { pattern, says, remedies } of KNOWN) {
    const match = pattern.exec(words)
    if (match === null) continue
    const advice = remedies(match, told)
    if (advice.some(Boolean)) return { says: typeof says === 'function' ? says(match, told) : says, remedies: [...advice, openFrame(told)] }
  }
  return undefined
}

/** What is known of a message takes the place of what its kind supposes after it. */
export function untilQuoted(verdict: string, told: EndTold): string {
  const quoted = `"${quote(told)}".`
  const at = verdict.indexOf(quoted)
  return at < 0 ? verdict : verdict.slice(0, at + quoted.length)
}
