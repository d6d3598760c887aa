// Libraries that a CUDA program can do without, and how programs say that they do: a notice of a missing one is no fault.
import { CUDA_LIBRARY } from './cuda-libraries.ts'
import type { Seen } from './rules.ts'

/** TensorRT and its parsers, the profiler's CUPTI, GPUDirect Storage (cuFile), NVTX marks: extras that frameworks look for and go on without. */
const EXTRA = /^(?:lib)?(?:nvinfer|nvonnxparser|nvparsers|cupti|cufile|nvToolsExt)/

/**
 * TensorFlow's loader (tsl/platform/default/dso_loader.cc) prints the same sentence for every library that it cannot open, those of TensorRT
 * among them, and only says later whether it goes on without the GPU.
 */
export const TENSORFLOW_NOTICE = `Could not load dynamic library '?(?!lib(?:nvinfer|nvonnxparser|nvparsers|cupti))(${CUDA_LIBRARY})`
const NOTICE = new RegExp(TENSORFLOW_NOTICE)
const NOTICES_APART = 8
/** TensorFlow tries one library after the other: of one start, the first notice tells them all. */
export const noticedBefore = ({ text, at }: Seen): boolean => text.slice(Math.max(0, at - NOTICES_APART), at).some((line) => NOTICE.test(line))
export function besides({ text, at, match }: Seen): string {
  if (!NOTICE.test(match[0])) return ''
  const others = new Set<string>()
  let last = at
  for (let n = at + 1; n < text.length && n <= last + NOTICES_APART; n++) {
    const name = NOTICE.exec(text[n] ?? '')?.[1]
    if (name === undefined) continue
    if (name !== match[1]) others.add(name)
    last = n
  }
  return others.size === 0 ? '' : `, nor ${others.size === 1 ? 'was' : 'were'} ${[...others].join(', ')}`
}

/** What TensorFlow prints when a library is missing that it needs for the GPU (gpu_device.cc). */
const SKIPS_GPU = /Cannot dlopen some GPU libraries|Skipping registering GPU devices/
const LINES_BELOW = 40
export const skipsGpu = ({ text, at }: Seen): boolean => text.slice(at, at + LINES_BELOW).some((line) => SKIPS_GPU.test(line))

/** Not after TensorFlow's sentence, which repeats the loader's words: its own rules decide. */
export const NOT_TENSORFLOW = "(?<!Could not load dynamic library '?[\\w.-]{1,80}'?; dlerror: )"

/** An exception, the loader's last words, or an error of TensorRT's own: the program needed the library. */
const NEEDED = /(?:Error|Exception|Failure)\b|error while loading|\[E\]|\bERROR\b|\bFATAL\b|[Ff]ailed to load plugin|unable to load/
/** A log level that no failure has, or words that the program goes on without. */
const GOES_ON =
  /\b(?:INFO|DEBUG|TRACE|NOTICE|WARN(?:ING)?|[Ww]arning)\b|level=(?:info|debug|warn)|\b(?:optional|[Ii]gnor(?:e|ed|ing)|[Ss]kip(?:ped|ping)?|disabled?|disabling|[Ww]ithout|not be (?:used|available)|is not available|instead)\b/

/** True where a program says in passing that it has no such extra, and goes on. Of its own line only: the next one may be anybody's. */
export function isNotice(library: string, { text, at }: Seen): boolean {
  const line = text[at] ?? ''
  return EXTRA.test(library) && GOES_ON.test(line) && !NEEDED.test(line)
}

/** Some warnings say themselves that they may be ignored: torchvision's of its image functions, for one. */
export const mayBeIgnored = ({ message }: Seen): boolean => /you can ignore this warning|If you don['\u2019]t plan on using/.test(message)

/** A logger's record below an error that says, behind the loader's words, what the program takes instead. */
const INSTEAD =
  /^(?!.{0,60}\b(?:ERROR|FATAL|CRITICAL)\b).{0,60}\b(?:DEBUG|INFO|WARN(?:ING)?)\b.{0,300}(?:cannot open shared object file|not found|undefined symbol)[^\n]{0,160}(?:[,;.)] {0,2}(?:using|falling back|will use|fallback|skipping|continuing|disabling))\b(?![^\n]{0,20}\bCPU\b)/i
export const takesAnother = ({ text, at }: Seen): boolean => INSTEAD.test(text[at] ?? '') || /NCCL WARN Failed to find CUDA lib/.test(text[at] ?? '')
