// Finding the call that really failed: CUDA reports errors late, so the stack of the first message often points elsewhere.
import { speaker as speakerOf } from '../../situation/programs.ts'
import type { Situation } from '../../situation/situation.ts'
import { setVariables } from './environment.ts'
import type { Piece } from './plan.ts'

/** Other programs on the same library. */
const KIN = /(?<![\w-])((?:stable-diffusion|whisper|bark|clip|llava)\.cpp)\b/

/** Set by whoever ran it, not named by PyTorch's hint, which may be in a line of its own. */
const SET =
  /(?:\b(?:export|env|ENV|set) |-e |--env )(?:CUDA|HIP)_LAUNCH_BLOCKING=["']?1|^(?:CUDA|HIP)_LAUNCH_BLOCKING=1 \w|environ\[["'](?:CUDA|HIP)_LAUNCH_BLOCKING["']\] ?= ?["']1/m
export const launchesWait = ({ text }: Situation): boolean => SET.test(text)

/** Frames of a training: a server whose name is beside them is only imported (Unsloth, TRL). */
const TRAINER = /\binner_training_loop\b|\btraining_step\b|trainer\.train\(/

/** Runs the kernels one by one. On AMD the runtime has a switch of its own. */
export function synchronous(situation: Situation): Piece {
  if (launchesWait(situation)) return undefined
  const named = TRAINER.test(situation.text) ? undefined : speakerOf(situation.programs)
  const speaker = named === 'llama.cpp' ? (KIN.exec(situation.text)?.[1] ?? named) : named
  const text = `Run ${speaker === undefined || speaker === 'PyTorch' ? 'it' : speaker} again with synchronous launches: the stack then shows the call that failed.`
  return situation.vendor === 'amd'
    ? { text, command: setVariables(situation, { AMD_SERIALIZE_KERNEL: '3', HIP_LAUNCH_BLOCKING: '1' }) }
    : { text, command: setVariables(situation, { CUDA_LAUNCH_BLOCKING: '1' }) }
}

/** Slow; names kernel, thread and address. */
export function sanitizer(situation: Situation): Piece {
  if (situation.vendor === 'amd' || situation.gaming) return undefined
  const { script } = situation.subject
  const program = script === undefined || /\s/.test(script) ? '<COMMAND>' : `python ${script}`
  return {
    text: 'Let the sanitizer name the kernel and the address (many times slower).',
    command: `compute-sanitizer --tool memcheck ${situation.programs.has('llamacpp') ? '<COMMAND>' : program}`,
  }
}
export const xidsBeside: Piece = {
  text: 'See whether the kernel logged an Xid in the same second: 13 and 31 name unit and address, 48, 94 and 95 mean bad memory.',
  command: "sudo dmesg -T | grep 'NVRM: Xid' | tail",
}
