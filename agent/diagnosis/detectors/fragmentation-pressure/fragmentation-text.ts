// What fragmentation pressure says and advises: it depends on the kind of segments and on what was seen after a flush.
import type { AllocatorSample } from '../../../model/event.ts'
import type { TypedFaulty } from '../../../model/finding.ts'
import type { Remedy } from '../../../model/fault.ts'
import { gib } from '../../../text/bytes.ts'
import { percent } from '../../../text/figures.ts'
import { timesText, upperFirst } from '../../../text/grammar.ts'
import type { Flush } from '../parts/flushes.ts'
import type { Track, Tracks } from '../parts/tracks.ts'
import { gpuText, processText } from '../parts/who.ts'

export type Fragmentation = {
  readonly track: Track
  readonly tracks: Tracks
  readonly sample: AllocatorSample
  /** The least in all of the minutes, or after half of the flushes. */
  readonly stranded: number
  readonly usable: number
  /** What the driver would still give it. */
  readonly room: number
  readonly flushes: readonly Flush[]
  /** For how long it was so; undefined: flushes showed it. */
  readonly minutes: number | undefined
}

function remedies({ expandable }: AllocatorSample): readonly Remedy[] {
  const own: Remedy = {
    text: 'Free what lives long in between: copy small results out of large buffers (clone) or move them to the CPU, and allocate long-lived tensors first.',
  }
  const shapes: Remedy = { text: 'If shapes vary: pad or bucket them, so that freed blocks fit again.' }
  if (expandable === true) return [own, shapes, { text: 'Restart the process at a convenient time (after a checkpoint): that puts the pieces together.' }]
  return [
    {
      text: `Let segments grow, so that free pieces can be given back (${expandable === undefined ? 'if it is not set already; ' : ''}PyTorch on Linux; 2.9 and newer also read PYTORCH_ALLOC_CONF). It needs a restart.`,
      command: 'export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True',
    },
    { text: 'Where that is not supported: keep large blocks whole.', command: 'export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:256' },
    own,
    shapes,
    { text: 'torch.cuda.empty_cache() does not help: it gives back whole free segments only, and these are in use in part.' },
  ]
}

export function fragmentationFault(seen: Fragmentation): Pick<TypedFaulty, 'severity' | 'title' | 'verdict' | 'facts' | 'remedies'> {
  const { track, tracks, sample, stranded, usable, room, flushes, minutes } = seen
  const share = stranded / usable
  const where = gpuText(tracks, track.uuid)
  const expandable = sample.expandable === true
  const count = flushes.reduce((sum, flush) => sum + flush.count, 0)
  const { reserved_bytes: reserved, active_bytes: active } = sample.stats
  const pieces = expandable
    ? 'pieces between live blocks, which it can neither use for its requests nor give back'
    : 'free pieces of segments that are partly in use, which no request fitted into and which cannot be given back'
  const of = `${percent(share)} of the ${gib(usable)} that it can use on ${where}`
  const flushed = count === 0 ? '' : ` It had to flush its cache ${timesText(count)} in the last hour${expandable ? ', which did not free them' : ''}.`
  return {
    severity: 'warning',
    title: `${percent(share)} of the GPU memory of ${processText(track)} is lost to fragmentation`,
    verdict: `${upperFirst(processText(track))} ${
      minutes === undefined
        ? `found no memory for a request again and again in the last half hour, while mostly ${gib(stranded)} and more (${of}) lay in ${pieces}`
        : `holds ${expandable ? 'up to ' : ''}${gib(stranded)} (${of}) that have been of no use for ${minutes} minutes: ${pieces}`
    }. ${gib(room)} are left.${flushed}`,
    facts: {
      stranded_bytes: stranded,
      stranded_ratio: Math.round(share * 1_000) / 1_000,
      free_bytes: room,
      ...(reserved === undefined ? {} : { reserved_bytes: reserved }),
      ...(reserved === undefined || active === undefined ? {} : { reserved_unallocated_bytes: Math.max(0, reserved - active) }),
      limit_bytes: usable,
      ...(count === 0 ? {} : { retries: count }),
    },
    remedies: remedies(sample),
  }
}
