// GPU time that was held and not used, as text: the figures of one row and what would help, for messages and the dashboard.
import type { WasteRow } from '../model/ledger.ts'
import { counted } from './grammar.ts'

/** What is no zero does not read as one: `0.0`, `under 0.1`, `3.4`, `120`. */
export const hoursText = (hours: number): string => (hours > 0 && hours < 0.05 ? 'under 0.1' : hours.toFixed(hours < 100 ? 1 : 0))
export const priceText = (price: number, currency: string | undefined): string => `${price.toFixed(2)}${currency === undefined ? '' : ` ${currency}`}`

/** Behind the name of a job: of several runs of one script the number tells which. */
export const slurmNote = (id: string | undefined): string => (id === undefined ? '' : ` (Slurm job ${id})`)

/** `job`: which it is about. */
export type WasteHint = { readonly job?: string; readonly slurm_job?: string | undefined; readonly text: string }

/** One for each thing that would help, with its effect. */
export const wasteHints = ({ gpu_hours_queueable: free, oversized, died }: WasteRow): readonly WasteHint[] => [
  ...(free === 0 ? [] : [{ text: `Ending idle sessions frees ${hoursText(free)} GPU hours: whole hours in which the GPU ran nothing` }]),
  ...oversized.map(({ job, slurm_job, text }) => ({ job, slurm_job, text: `${text}; requesting less leaves the rest to others` })),
  ...died.map(({ job, slurm_job, runs, gpu_hours_lost: gone }) => ({
    job,
    slurm_job,
    text: `${counted(runs, 'run')} ended badly and lost ${gone === 0 ? 'under 0.1' : hoursText(gone)} GPU hours; saving checkpoints more often loses less`,
  })),
]
