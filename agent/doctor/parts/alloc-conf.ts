// PYTORCH_CUDA_ALLOC_CONF as PyTorch reads it (c10/cuda/CUDAAllocatorConfig.cpp and c10/core/AllocatorConfig.cpp of 2.9): what it would refuse, what has no effect.
import { nearest, editDistance } from '../../lib/nearest.ts'

export type ConfProblem = { readonly level: 'refused' | 'no effect' | 'unknown'; readonly message: string }
export type Conf = { readonly options: ReadonlyMap<string, string>; readonly problems: readonly ConfProblem[] }

type Judge = (value: string) => string | undefined

const isWhole = (value: string): boolean => /^\d+$/.test(value)
const isPower = (value: string): boolean => isWhole(value) && Number(value) > 0 && Number.isInteger(Math.log2(Number(value)))
const flag: Judge = (value) => (value === 'True' || value === 'False' ? undefined : 'expected True or False, with a capital')
const share: Judge = (value) => (Number(value) > 0 && Number(value) < 1 ? undefined : 'expected a number between 0 and 1')
const fraction: Judge = (value) => (Number(value) > 0 && Number(value) <= 1 ? undefined : 'expected a number above 0, at most 1')
/** kLargeBuffer is 20 MiB. */
const megabytes: Judge = (value) => (isWhole(value) && Number(value) >= 20 ? undefined : 'expected MiB as a whole number of at least 20, without a unit')
const some: Judge = (value) => (isWhole(value) && Number(value) > 0 ? undefined : 'expected a whole number above 0')
const threads: Judge = (value) => (isPower(value) && Number(value) <= 128 ? undefined : 'expected a power of two of at most 128')
const divisions: Judge = (value) => {
  if (!value.startsWith('[')) return isPower(value) ? undefined : 'expected a power of two, or a list as [256:1,512:2,>:8]'
  const parts = value.slice(1, -1).split(',')
  const fine = parts.every((part) => {
    const [size = '', count = ''] = part.split(':')
    return (size === '>' || isPower(size)) && (count === '0' || isPower(count))
  })
  return fine ? undefined : 'expected powers of two as [256:1,512:2,>:8]'
}

const OPTIONS: Readonly<Record<string, Judge>> = {
  backend: (value) => (['native', 'cudaMallocAsync'].includes(value) ? undefined : 'expected native or cudaMallocAsync'),
  max_split_size_mb: megabytes,
  max_non_split_rounding_mb: megabytes,
  garbage_collection_threshold: share,
  roundup_power2_divisions: divisions,
  expandable_segments: flag,
  release_lock_on_cudamalloc: flag,
  pinned_use_cuda_host_register: flag,
  pinned_num_register_threads: threads,
  pinned_use_background_threads: flag,
  pinned_reserve_segment_size_mb: some,
  graph_capture_record_stream_reuse: flag,
  per_process_memory_fraction: fraction,
  throw_on_cudamalloc_oom: flag,
}

/** Of options that the asynchronous backend knows. */
const EVERYWHERE = new Set(['backend'])

/** There are some 20 options. Beyond this nothing is judged: the text is no setting. */
const MOST_PARTS = 100

/** `key:value,key:[a:b,c:d]`; spaces do not count. */
function partsOf(text: string): readonly string[] {
  return (text.replaceAll(' ', '').match(/(?:\[[^\]]*\]?|[^,[])+/g) ?? []).slice(0, MOST_PARTS)
}

export function parseAllocConf(text: string): Conf {
  const options = new Map<string, string>()
  const problems: ConfProblem[] = []
  const refuse = (message: string): void => void problems.push({ level: 'refused', message })
  for (const part of partsOf(text)) {
    const at = part.indexOf(':')
    const [key, value] = at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)]
    if (at < 0 || value === '') {
      refuse(part.includes('=') ? `"${part}" must be key:value, not with "="` : `"${part}" must be key:value`)
      continue
    }
    const judge = Object.hasOwn(OPTIONS, key) ? OPTIONS[key] : undefined
    if (judge === undefined) {
      const meant = nearest(key, Object.keys(OPTIONS))
      if (meant !== undefined && Math.abs(key.length - meant.length) <= 3 && editDistance(key.toLowerCase(), meant) <= 3)
        refuse(`"${key}" is no option; "${meant}" is`)
      else problems.push({ level: 'unknown', message: `"${key}" is not among the options that Warpwatch knows (PyTorch refuses those that it does not know)` })
      continue
    }
    if (options.has(key)) problems.push({ level: 'no effect', message: `"${key}" is given twice; the last one counts` })
    options.set(key, value)
    const wrong = judge(value)
    if (wrong !== undefined) refuse(`${key}:${value}: ${wrong}`)
  }
  const lost = [...options.keys()].filter((key) => !EVERYWHERE.has(key))
  if (options.get('backend') === 'cudaMallocAsync' && lost.length > 0) {
    problems.push({ level: 'no effect', message: `the backend cudaMallocAsync ignores ${lost.join(', ')}` })
  }
  return { options, problems }
}
