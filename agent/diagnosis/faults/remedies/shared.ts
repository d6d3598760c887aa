// Remedies that the families of faults and the kinds of ends have in common.
import type { Piece } from './plan.ts'

/** A file that holds a model. */
export const MODEL_FILE =
  /((?:[A-Z]:\\|\/|~\/|\.{1,2}[\\/])?[\w@+.-]{1,80}(?:[\\/][\w@+.-]{1,80}){0,12}\.(?:safetensors|gguf|bin|pth?|ckpt|h5|msgpack|npz|pkl))\b/

export const CUT_CHECKPOINT: Piece = {
  text: 'If it is a checkpoint of your own, it was cut while it was saved: resume from the one before it.',
  command: 'df -h',
}

export const slurmRecord = (job: number | string | undefined): Piece => ({
  text: 'See what Slurm recorded of the job: OUT_OF_MEMORY, TIMEOUT, PREEMPTED or CANCELLED.',
  command: `sacct -j ${job ?? '<JOB_ID>'} --format=JobID,State,ExitCode,MaxRSS,ReqMem`,
})
