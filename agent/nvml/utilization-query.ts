// How busy each process kept a GPU: the driver's time-stamped samples since the last question, in R550's call where the driver has it, else in the old one.
import { ARGUMENT_VERSION_MISMATCH, FUNCTION_NOT_FOUND, INSUFFICIENT_SIZE, NOT_FOUND, NOT_SUPPORTED, SUCCESS, isPermanent } from './codes.ts'
import type { ProcessSamples, UtilizationQuery } from './device.ts'
import { PROCESSES_SAMPLES, PROCESS_SAMPLE, PROCESS_SAMPLE_V1 } from './layouts.ts'
import type { Library } from './library.ts'
import { functionOrdinal, type FunctionName } from './names.ts'
import { bind, wide } from './query.ts'

/** The driver keeps a ring of samples; more than this since a second ago is no list of processes. */
const MOST_SAMPLES = 16_384
const FIRST_SAMPLES = 128
const PERCENT = 100
const MOST_TRIES = 4

type Shape = { readonly size: number; readonly pid: number; readonly timeStamp: number; readonly smUtil: number }
/** One way to ask: gives NVML's code, and how many entries it wrote. */
type Way = { readonly name: FunctionName; readonly shape: Shape; readonly ask: (since: bigint) => number; readonly count: () => number }

export function utilizationQuery(library: Library, gpu: number, handle: bigint): UtilizationQuery {
  let room = FIRST_SAMPLES
  let words = new Uint32Array((room * PROCESS_SAMPLE_V1.size) / 4)
  const ways: Way[] = []
  if (library.native('nvmlDeviceGetProcessesUtilizationInfo') !== undefined) {
    const header = new DataView(new ArrayBuffer(64))
    const call = bind(library, gpu, 'nvmlDeviceGetProcessesUtilizationInfo', [handle, new Uint8Array(header.buffer)])
    ways.push({
      name: 'nvmlDeviceGetProcessesUtilizationInfo',
      shape: PROCESS_SAMPLE_V1,
      ask(since) {
        header.setUint32(0, PROCESSES_SAMPLES.version, true)
        header.setUint32(PROCESSES_SAMPLES.processSamplesCount, room, true)
        header.setBigUint64(PROCESSES_SAMPLES.lastSeenTimeStamp, since, true)
        header.setBigUint64(PROCESSES_SAMPLES.procUtilArray, library.addressOf(words), true)
        return call()
      },
      count: () => header.getUint32(PROCESSES_SAMPLES.processSamplesCount, true),
    })
  }
  const count = new Uint32Array(2)
  const older = library.native('nvmlDeviceGetProcessUtilization')
  const ordinal = functionOrdinal('nvmlDeviceGetProcessUtilization')
  ways.push({
    name: 'nvmlDeviceGetProcessUtilization',
    shape: PROCESS_SAMPLE,
    ask(since) {
      if (older === undefined) return FUNCTION_NOT_FOUND
      count[0] = room
      library.say(gpu, ordinal)
      return older(handle, words, count, since)
    },
    count: () => count[0] ?? 0,
  })

  let permanent = SUCCESS
  let lastSeenUs = 0
  const samples: ProcessSamples = { count: 0, pid: new Uint32Array(room), timeUs: new Float64Array(room), percent: new Uint8Array(room) }
  /** What looks like no sample is left out: real drivers fill entries of processes that have gone with anything. */
  const decode = ({ size, pid: pidAt, timeStamp, smUtil }: Shape, found: number): void => {
    if (samples.pid.length < room) Object.assign(samples, { pid: new Uint32Array(room), timeUs: new Float64Array(room), percent: new Uint8Array(room) })
    let newest = lastSeenUs
    for (let i = 0; i < Math.min(found, room); i++) {
      const at = (i * size) / 4
      const [pid, percent] = [words[at + pidAt / 4] ?? 0, words[at + smUtil / 4] ?? 0]
      const timeUs = wide(words[at + timeStamp / 4] ?? 0, words[at + timeStamp / 4 + 1] ?? 0)
      if (pid === 0 || percent > PERCENT || !(timeUs > lastSeenUs)) continue
      samples.pid[samples.count] = pid
      samples.timeUs[samples.count] = timeUs
      samples.percent[samples.count++] = percent
      newest = Math.max(newest, timeUs)
    }
    // The first answer is the whole ring, whatever its age.
    if (lastSeenUs === 0) samples.count = 0
    lastSeenUs = newest
  }
  const ask = (): number => {
    if (permanent !== SUCCESS) return permanent
    const [way] = ways
    if (way === undefined) return FUNCTION_NOT_FOUND
    const lastSeen = BigInt(lastSeenUs)
    let code = way.ask(lastSeen)
    for (let tries = 0; code === INSUFFICIENT_SIZE && room < MOST_SAMPLES && tries < MOST_TRIES; tries++) {
      room = Math.min(Math.max(2 * way.count() + 5, 2 * room), MOST_SAMPLES)
      words = new Uint32Array((room * PROCESS_SAMPLE_V1.size) / 4)
      code = way.ask(lastSeen)
    }
    samples.count = 0
    if (code === NOT_FOUND) return SUCCESS
    if (code !== SUCCESS) {
      // The new call is missing on some GPUs of drivers that have it.
      if (ways.length > 1 && (code === FUNCTION_NOT_FOUND || code === ARGUMENT_VERSION_MISMATCH || code === NOT_SUPPORTED)) {
        ways.shift()
        return ask()
      }
      if (isPermanent(code)) permanent = code
      return code
    }
    decode(way.shape, way.count())
    return SUCCESS
  }
  return { name: ways[0]?.name ?? 'nvmlDeviceGetProcessUtilization', ask, samples }
}
