// Messages that libraries raise for one known reason each: what they mean and what to change, in place of the advice of their kind.
import { compilerSaid } from '../compiler-error.ts'
import { openFrame, quote, type EndContext } from '../end-kind.ts'
import { ATTRIBUTES } from './attributes.ts'
import { BUILDS } from './builds.ts'
import { COMFYUI } from './comfyui.ts'
import { DATA } from './data.ts'
import { DISTRIBUTED } from './distributed.ts'
import { ENGINES } from './engines.ts'
import { FINETUNING } from './finetuning.ts'
import { HUB_NAMES } from './hub-names.ts'
import { HYDRA } from './hydra.ts'
import { IMAGES } from './images.ts'
import { INSTALLS } from './installs.ts'
import { LEARNING } from './learning.ts'
import { LIBRARIES } from './libraries.ts'
import { LOADING } from './loading.ts'
import { MEGATRON } from './megatron.ts'
import { PACKAGES } from './packages.ts'
import { QUANTIZATION } from './quantization.ts'
import { SERVING } from './serving.ts'
import { SERVERS } from './servers.ts'
import { SGLANG } from './sglang.ts'
import { SERVICES } from './services.ts'
import { SETUP } from './setup.ts'
import { SIMULATIONS } from './simulations.ts'
import { SLURM } from './slurm.ts'
import { SURROUNDINGS } from './surroundings.ts'
import { SYSTEM } from './system.ts'
import { TENSORS } from './tensors.ts'
import { TRAINING } from './training.ts'
import { TRAINER_CHECKS } from './trainer-checks.ts'
import { TUNING } from './tuning.ts'
import { WINDOWS } from './windows.ts'
import { firstKnown, type Known, type KnownMessage } from './message.ts'

const KNOWN: readonly Known[] = [
  COMFYUI,
  HUB_NAMES,
  MEGATRON,
  TUNING,
  FINETUNING,
  TRAINER_CHECKS,
  WINDOWS,
  DISTRIBUTED,
  TRAINING,
  LOADING,
  ENGINES,
  QUANTIZATION,
  SERVING,
  SGLANG,
  SERVERS,
  SERVICES,
  IMAGES,
  HYDRA,
  SETUP,
  SLURM,
  SURROUNDINGS,
  SYSTEM,
  LEARNING,
  SIMULATIONS,
  TENSORS,
  DATA,
  BUILDS,
  INSTALLS,
  LIBRARIES,
  ATTRIBUTES,
  PACKAGES,
].flat()

/** Undefined where the message has more reasons than one, or is not known. */
export function knownMessage(context: EndContext): KnownMessage | undefined {
  const { error } = context
  if (error === undefined) return undefined
  const compiler = compilerSaid(context)
  const words =
    error.name !== undefined && /Tracer|Concretization|PackagesNotFound|ResolvePackage|Unsatisfiable/.test(error.name)
      ? `${error.name} ${error.message}`
      : `${error.message}\n${error.tail}${error.causes.flatMap(({ handled, message }) => (handled === true ? [] : `\n${message}`)).join('')}${compiler === undefined ? '' : `\n${compiler}`}`
  const known = firstKnown(KNOWN, words, context)
  return known === undefined ? undefined : { ...known, remedies: [...known.remedies, openFrame(context)] }
}

/** What is known of a message takes the place of what its kind supposes after it. */
export function untilQuoted(verdict: string, context: EndContext): string {
  const quoted = `"${quote(context)}".`
  const at = verdict.indexOf(quoted)
  return at < 0 ? verdict : verdict.slice(0, at + quoted.length)
}
