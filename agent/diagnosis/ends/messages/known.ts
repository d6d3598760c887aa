// Messages that libraries raise for one known reason each: what they mean and what to change, in place of the advice of their kind.
import { compilerSaid } from '../compiler-error.ts'
import { openFrame, quote, type EndTold } from '../end-kind.ts'
import { LIBRARIES } from './libraries.ts'
import { PACKAGES } from './packages.ts'
import { SERVING } from './serving.ts'
import { SETUP } from './setup.ts'
import { SLURM } from './slurm.ts'
import { TENSORS } from './tensors.ts'
import { TRAINING } from './training.ts'
import { firstKnown, type Known, type KnownMessage } from './message.ts'

const KNOWN: readonly Known[] = [...TRAINING, ...SERVING, ...SETUP, ...SLURM, ...TENSORS, ...LIBRARIES, ...PACKAGES]

/** Undefined where the message has more reasons than one, or is not known. */
export function knownMessage(told: EndTold): KnownMessage | undefined {
  const { error } = told
  if (error === undefined) return undefined
  const compiler = compilerSaid(told)
  const words =
    error.name !== undefined && /Tracer|Concretization/.test(error.name)
      ? `${error.name} ${error.message}`
      : `${error.message}\n${error.tail}${compiler === undefined ? '' : `\n${compiler}`}`
  const known = firstKnown(KNOWN, words, told)
  return known === undefined ? undefined : { ...known, remedies: [...known.remedies, openFrame(told)] }
}

/** What is known of a message takes the place of what its kind supposes after it. */
export function untilQuoted(verdict: string, told: EndTold): string {
  const quoted = `"${quote(told)}".`
  const at = verdict.indexOf(quoted)
  return at < 0 ? verdict : verdict.slice(0, at + quoted.length)
}
