// A program ran out of GPU memory, caught it, and goes on with smaller pieces: it works, but not as it was set up.
import type { Facts } from '../../model/facts.ts'
import { joinedFrom } from '../joining.ts'
import { torchFigures } from './cuda-oom/figures.ts'
import { known, whole } from './parts/window.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import type { Piece } from './remedies/plan.ts'

/** Pytorch-UNet keeps its batch. */
const CHECKPOINTS = /Enabling checkpointing to reduce memory usage/
/** Nothing is made smaller: what did not fit is left out. */
const SKIPS = /\bskipping (?:this )?(?:batch|update)\b/i
/** What was made smaller decides; the size that fits is known only where the message tells it. */
function remedies({ facts, situation, message }: Matched): readonly Piece[] {
  const { training, programs } = situation()
  const { batch_to: to } = facts
  if (/til(?:ed|ing|e)\b|VAE/i.test(message))
    return [
      { text: 'Decode in tiles from the start: each failed try costs time. A smaller resolution or batch avoids tiling.' },
      programs.has('comfyui') && { text: 'In ComfyUI use the node "VAE Decode (Tiled)".' },
    ]
  if (CHECKPOINTS.test(message))
    return [
      { text: 'Switch checkpointing on from the start (model.use_checkpointing()), so that no step is lost; it computes activations again, which costs time.' },
      { text: 'Or need less memory and stay fast: 16-bit numbers and smaller images.', command: '--amp --scale 0.25' },
    ]
  if (SKIPS.test(message) && !/skipping update/.test(message))
    return [
      {
        text: 'Batches that do not fit are left out, so the largest samples are never learned from. Lower the batch size and raise gradient accumulation by the same factor, or cut the largest samples.',
      },
    ]
  const fairseq = /skipping update|recover from OOM/.test(message)
  return [
    fairseq
      ? {
          text: 'Lower --max-tokens or --batch-size, and raise --update-freq by the same factor: updates that run out of memory are skipped.',
        }
      : to === undefined
        ? { text: 'Set the size that fits from the start: each failed try costs time.' }
        : { text: `Start with a batch size of ${to}: each failed try costs time.` },
    !fairseq &&
      (training || /train/i.test(message)) && {
        text: `A changed batch changes training${to === undefined || facts.batch_from === undefined ? '' : ` (${facts.batch_from} to ${to})`}: keep it with gradient accumulation${programs.has('transformers') ? ' (gradient_accumulation_steps)' : ''}.`,
      },
  ]
}
/** What a program says behind an out of memory when it goes on with less. */
export const GOES_ON_WITH_LESS =
  /^[^\n]{0,80}?(?:[^\w\s]|\s[^\w\s]) ?(?:re-?try(?:ing)?|reducing|halving|decreasing|lowering|shrinking|splitting|skipping|trying|falling back to|backing off|dropping to)\b[^\n.]{0,40}?(?:\b(?:micro)?batch|_batch|\bbs\b|chunk|\btil(?:e|ing)|\bslab|\bparts\b|\binput|\bsequence|\bsegment|\bpatch|\bcrop|\b(?:to|with) \d)/i
const RAN_OUT = /\b(?:OOM|out of memory|OutOfMemory(?:Error)?)\b/i
/** The same words of host memory are no matter of the GPU. */
const GPU_TEXT = /CUDA|\bGPU|\bHIP\b|ROCm|torch|VRAM/i
const NEXT =
  /\b(?:re-?try|reduc|halv|decreas|lower|shrink|try|fall|back|dropp)(?:ing)?\b(?![^\n]{0,30}(?:chunk|tile|slab|part))[^\n]{0,40}?(?:\bto|\bwith|\bat|[:=]) ?(\d{1,7})\b/i
const CHANGE = /from (\d{1,7}) ?(?:->|→|to|=>) ?(\d{1,7})/
const BATCH = /[Bb]atch(?:[ _]?size)?(?: ?(?:=|:|to:?|of|from))? ?(\d{1,7})/g
const around = ({ message, match }: Seen): string => message.slice(Math.max(0, match.index - 120), match.index + match[0].length + 120)

function facts(seen: Seen): Facts {
  const near = around(seen)
  // Figures of the failed request, where the message is in the next lines.
  const failed = joinedFrom(seen.text, seen.at, 4)
  const figures = failed.includes('Tried to allocate') ? torchFigures(failed) : {}
  const change = CHANGE.exec(near)
  if (change !== null) return { ...figures, ...known({ batch_from: whole(change[1]), batch_to: whole(change[2]) }) }
  const sizes = [...near.matchAll(BATCH)].map((match) => whole(match[1]))
  const next = whole(NEXT.exec(near)?.[1])
  // The word tells what it was before.
  if (next !== undefined && sizes.every((size) => size === next) && /halv/i.test(near)) return { ...figures, batch_from: 2 * next, batch_to: next }
  if (next !== undefined) return { ...figures, ...known({ batch_from: sizes[0] === next ? undefined : sizes[0], batch_to: next }) }
  return { ...figures, ...(sizes.length >= 2 ? known({ batch_from: sizes[0], batch_to: sizes[1] }) : known({ batch_to: sizes[0] })) }
}
function verdict(seen: Seen): string {
  if (CHECKPOINTS.test(seen.message)) return 'GPU memory ran out; the program caught it and continues with activation checkpointing, which is slower.'
  if (SKIPS.test(seen.message)) return 'GPU memory ran out; the program caught it, left that batch out and goes on.'
  const { batch_from: from, batch_to: to } = facts(seen)
  const change = from !== undefined && to !== undefined ? ` from ${from} to ${to}` : to !== undefined ? ` to ${to}` : ''
  return `GPU memory ran out; the program caught it and continues with smaller pieces${change === '' ? '' : ` (batch${change})`}.`
}
/** A smaller size is tried below: the last one is what the program went on with. */
const LINES_BELOW = 40
function triedSmaller({ text, at }: Seen, to: number | undefined): boolean {
  if (to === undefined) return false
  return text.slice(at + 1, at + 1 + LINES_BELOW).some((line) => {
    if (!/\b(?:OOM|out of memory|too large|failed)\b|[Dd]ecreas|[Rr]educ|[Hh]alv|[Ll]ower|[Rr]etry/.test(line)) return false
    const sizes = [...line.matchAll(BATCH)].map((match) => Number(match[1]))
    const next = whole(NEXT.exec(line)?.[1]) ?? sizes.at(-1)
    return next !== undefined && next > 0 && next < to
  })
}
const rule = {
  severity: 'warning',
  title: 'Out of memory, continuing with less',
  verdict,
  remedies,
  facts,
  unless: (seen: Seen) => triedSmaller(seen, facts(seen).batch_to),
} as const
/** Advice in an estimate or a help text: nothing was tried. */
const ADVICE = /\b(?:[Tt]ry|[Cc]onsider|[Yy]ou can|should|[Pp]lease|[Ss]uggest|recommend|if you|[Tt]ip:|[Hh]int:)\b[^.]{0,80}$/

/** "After lowering the batch size it works": a report of what helped, no failure. */
const TELLS = /\b(?:[Aa]fter|[Bb]y|I|[Ww]e)\s$/
const REPORTS = /\bno (?:more|longer)\b[^.\n]{0,30}\bout of memory/i

const quiet = (seen: Seen): boolean =>
  (TELLS.test(seen.message.slice(Math.max(0, seen.match.index - 8), seen.match.index)) && REPORTS.test(seen.message)) ||
  ADVICE.test(seen.message.slice(Math.max(0, seen.match.index - 120), seen.match.index)) ||
  triedSmaller(seen, facts(seen).batch_to)

export const batchHalving = ruleFamily({
  id: 'batch-halving',
  kind: 'batch_halving',
  literals: [
    'recover from OOM',
    'skipping update',
    'educing batch size',
    'educing the batch size',
    'educing to batch',
    'ecreasing batch size',
    'microbatch size will be decreased',
    'batch size will be ',
    'etrying with batch',
    'etry with batch',
    'etrying with a smaller batch',
    'etrying with smaller batch',
    'with a smaller batch size',
    'ith smaller batch size',
    'retrying with tiled',
    'retrying with tiling',
    'by reducing batch',
    'atch size reduced',
    'alving batch size',
    'alving the batch size',
    'skipping batch',
    'kipping this batch',
    'failed, trying batch size',
    'educing tile size',
    'educing chunk size',
    'is too large, reducing',
    'rying again with batch',
    'OOM at batch',
    'ecreased batch size',
    'educed batch size',
    'owering batch size',
    'owering batch_size',
    'educing batch_size',
    'ecreasing batch_size',
    'OOM, redu',
    'OOM; redu',
    'OOM. Redu',
    'OOM, retr',
    'OOM; retr',
    'OOM. Retr',
    'OOM, halv',
    'OOM, trying',
    'OOM detected',
    'due to OOM',
    'OOM with batch',
    'nabling checkpointing',
    'ut of memory',
    'ut of Memory',
    'OutOfMemory',
  ],
  rules: [
    { ...rule, pattern: CHECKPOINTS, facts: () => ({}), unless: () => false },
    {
      ...rule,
      pattern: /recover from OOM|OOM in all workers, skipping update|(?:OOM|out of memory)[^.]{0,80}[Ss]kipping (?:this )?batch/i,
    },
    {
      ...rule,
      pattern:
        /(?:[Rr]educ|[Dd]ecreas|[Hh]alv|[Ll]ower)(?:ing|ed) (?:the )?(?:train |eval |micro ?)?(?:batch|tile|chunk)[ _]size(?! ?\w{0,12} ?sched)|[Bb]atch[ _]size \d{1,7} (?:is )?too large,? (?:reducing|trying)|[Rr]educing to batch(?:[ _]size)? ?[=:]? ?\d|OOM at batch[ _]?(?:size)? ?\d{1,7}, trying|failed, trying batch size \d|batch ?size (?:will be (?:decreased|reduced|halved)|reduced)/,
      // A trainer says why it does without.
      unless: (seen) => /auto_find_batch_size is not supported/.test(seen.message) || quiet(seen),
    },
    {
      ...rule,
      pattern:
        /(?:[Rr]etry(?:ing)?|[Tt]rying(?: again)?|[Tt]ry(?: again)?|[Cc]ontinuing) with (?:a )?(?:smaller batch|batch(?:[ _]size)? ?[=:]? ?\d|tiled|tiling)/,
      // llama.cpp: the KV cache is full of tokens, and no memory ran out.
      unless: (seen) => /free space in the KV cache/.test(seen.message) || quiet(seen),
    },
    {
      ...rule,
      pattern: RAN_OUT,
      unless: (seen) =>
        !GOES_ON_WITH_LESS.test(seen.message.slice(seen.match.index + seen.match[0].length)) || !GPU_TEXT.test(seen.situation().text) || quiet(seen),
    },
  ],
})
