// Readers of recordings, of the probe's lines, of engines' answers, and of the history on disk.
import { createSeriesCache } from '../../../agent/sources/recording/series-cache.ts'
import { createLineParser } from '../../../agent/sources/recording/parse.ts'
import { readRecording, RecordingError } from '../../../agent/sources/recording.ts'
import { fromProbe } from '../../../agent/allocator/snapshot/from-probe.ts'
import { SnapshotError } from '../../../agent/allocator/snapshot/error.ts'
import { analyse } from '../../../agent/allocator/snapshot/analyse.ts'
import { MAX_LINE_BYTES } from '../../../agent/sources/allocator/line-reader.ts'
import { parseMessage, peaksOf, statsOf } from '../../../agent/sources/allocator/messages.ts'
import { placeDevice } from '../../../agent/sources/allocator/placement.ts'
import type { DriverView } from '../../../agent/sources/allocator/driver-view.ts'
import { fromInspect, fromList, toContainerEvent } from '../../../agent/sources/containers/engine-container.ts'
import { describeIssues, eventSchema, inspectSchema, listSchema } from '../../../agent/sources/containers/engine-schema.ts'
import { resolveGpuRequest } from '../../../agent/sources/containers/gpu-request.ts'
import { createRawScratch, decodeRaw, encodeRaw, packBlock, unpackBlock } from '../../../agent/store/history/block.ts'
import { createJournalReader, createJournalWriter, decodeMarker, encodeMarker } from '../../../agent/store/history/journal.ts'
import { createRollup, decodeRollup, encodeRollup, rollSeconds } from '../../../agent/store/history/rollup.ts'
import { crc32 } from 'node:zlib'
import { json, parserOf, sharedSeeds, textParser } from './parser.ts'

const UUID = 'GPU-1'
const READING = ['warpwatch_gpu_memory_used_bytes', { gpu: '0', uuid: UUID }, 123_456]
const RECORDING = [
  { type: 'meta', format: 'warpwatch-recording', version: 1, host: 'h' },
  {
    type: 'scrape',
    t: 1_763_600_000_000,
    source: 'gpu',
    duration_ms: 3.1,
    readings: [READING, READING],
    gaps: [{ metric: 'warpwatch_gpu_fan_speed_ratio', labels: { gpu: '0' }, reason: 'not_supported', code: 3 }],
  },
  { type: 'scrape', t: 1_763_600_001_000, source: 'gpu', duration_ms: 3.1, readings: [READING, READING], gaps: [] },
  { type: 'scrape', t: 1_763_600_002_000, source: 'gpu', duration_ms: 3.1, readings: [READING, READING], gaps: [] },
  { type: 'log', t: 1, stream: 'container', origin: { container: 'trainer', container_id: '0123456789ab' }, text: 'x', cursor: 'c', level: 3 },
  {
    type: 'allocator',
    t: 1,
    pid: 4242,
    uuid: UUID,
    backend: 'native',
    expandable: false,
    limit_bytes: null,
    stats: { allocated_bytes: 1 },
    peaks: { reserved_bytes: 2 },
  },
  {
    type: 'allocator_oom',
    t: 1,
    pid: 1,
    uuid: UUID,
    request_bytes: 2,
    stats: {},
    pools: [
      {
        pool: [0, 0],
        kind: 'large',
        expandable: true,
        stream: 0,
        segments: 1,
        total_bytes: 1,
        active_bytes: 1,
        pending_bytes: 0,
        free_bytes: 0,
        free_blocks: 0,
        largest_free_bytes: 0,
        free_segments: 0,
        fitting_bytes: 0,
      },
    ],
  },
  { type: 'container', t: 1, action: 'die', container: 'trainer', container_id: '0123456789ab', image: 'i', exit_code: 137 },
  { type: 'operator', t: 1, action: 'set_healthy', incident: 'a' },
].map(json)

export const recordingLines = textParser(
  'recording-lines',
  'lines of a recording, the quick path included',
  [RECORDING.join('\n'), ...RECORDING],
  (text) => {
    const parser = createLineParser(createSeriesCache(() => undefined))
    // Whole lines first, so that the quick path has learned what comes.
    for (const line of RECORDING) parser.parse(line)
    for (const line of text.split('\n')) parser.parse(line)
  },
  { inputs: 100_000 },
)
export const recordingFile = textParser(
  'recording-file',
  'a recording as a stream',
  [RECORDING.join('\n')],
  async (text) => {
    const half = Math.floor(text.length / 2)
    // eslint-disable-next-line @typescript-eslint/require-await
    const chunks = async function* (): AsyncGenerator<string> {
      yield text.slice(0, half)
      yield text.slice(half)
    }
    for await (const event of readRecording(chunks(), { metricNamed: () => undefined, maxLineChars: 4_096 })) void event
  },
  { inputs: 100_000, refuses: (error) => error instanceof RecordingError },
)

const PLACE = { gpu: '0', uuid: UUID }
const VIEW: DriverView = {
  refresh: () => {},
  memory: () => undefined,
  holdings: (pid) => (pid === 4242 ? [{ ...PLACE, t: 1, bytes: 2 }] : []),
  pids: () => [4242],
  gpu: (uuid) => (uuid === UUID ? PLACE : undefined),
  mig: () => undefined,
  byBus: () => undefined,
  given: () => [],
}
const STATS = { allocated_bytes: [1, 2], reserved_bytes: [3, 4], num_ooms: 1 }
const PROBE = [
  {
    type: 'hello',
    v: 1,
    pid: 4242,
    pidns: 4_026_531_836,
    start_ticks: 99,
    torch: '2.9.0',
    backend: 'native',
    expandable: true,
    visible: '0,1',
    devices: [{ i: 0, uuid: UUID, pci_bus_id: '0000:41:00.0', total_bytes: 1 }],
    env: { CUDA_VISIBLE_DEVICES: '0' },
  },
  { type: 'hello', v: 1, pid: 4242, pidns: 1, start_ticks: 99, devices: [{ i: 0, uuid: 'MIG-GPU-1/1/0', visible: 'MIG-1' }] },
  { type: 'sample', t: 1.5, devices: { '0': { stats: STATS, limit_bytes: null } } },
  {
    type: 'oom',
    n: 1,
    t: 2,
    device: 0,
    request_bytes: 100,
    limit_bytes: 9,
    free_bytes: 1,
    stats: STATS,
    pools: [
      {
        pool: [0, 0],
        stream: 0,
        kind: 'large',
        expandable: false,
        segments: 1,
        total_bytes: 10,
        active_bytes: 5,
        pending_bytes: 0,
        free_bytes: 5,
        free_blocks: 1,
        largest_free_bytes: 5,
        free_segments: 0,
        fitting_bytes: 0,
      },
    ],
  },
  { type: 'exc', n: 1, t: 2, name: 'OutOfMemoryError', text: 'CUDA out of memory' },
  { type: 'bye' },
].map(json)
export const probeLines = textParser(
  'probe-lines',
  "lines of the allocator probe's socket",
  PROBE,
  (text) => {
    const message = parseMessage(text)
    if (message.type === 'hello') for (const device of message.devices) placeDevice(message, device, { pid: message.pid, containerId: undefined }, VIEW)
    if (message.type === 'sample') for (const { stats } of Object.values(message.devices)) Object.assign({}, statsOf(stats, true), peaksOf(stats))
    if (message.type === 'oom') analyse(fromProbe(message))
  },
  { mostBytes: MAX_LINE_BYTES, inputs: 500_000, refuses: (error) => error instanceof SnapshotError },
)

const ID = 'cd34'.repeat(16)
const INSPECT = {
  Id: ID,
  Name: '/trainer',
  RestartCount: 1,
  State: { Status: 'running', Running: true, Pid: 7, StartedAt: '2031-02-03T04:05:06Z' },
  Config: { Image: 'i', Env: ['NVIDIA_VISIBLE_DEVICES=all', 'A=b'], Labels: { 'com.docker.compose.project': 'p' } },
  HostConfig: {
    Runtime: 'nvidia',
    Memory: 1,
    ShmSize: 2,
    IpcMode: 'private',
    DeviceRequests: [{ Driver: 'cdi', Count: -1, DeviceIDs: ['nvidia.com/gpu=0'], Capabilities: [['gpu']] }],
    Devices: [{ PathOnHost: '/dev/nvidia0' }],
  },
}
const LIST = [{ Id: ID, Names: ['/trainer'], Image: 'i', Labels: { a: 'b' }, State: 'running' }]
const EVENT = { Type: 'container', Action: 'die', Actor: { ID, Attributes: { exitCode: '137', image: 'i', name: 'trainer' } }, time: 1, timeNano: 1e18 }
export const engineAnswers = textParser(
  'engine-answers',
  'lists, inspections and events of Docker and Podman',
  [json(LIST), json(INSPECT), json(EVENT), ...sharedSeeds('fixtures/docker/docker20-containers-json.json', 'fixtures/docker/docker20-inspect-crash.json')],
  (text) => {
    let answer: unknown
    try {
      answer = JSON.parse(text)
    } catch {
      return // the client refuses it by name
    }
    const [listed, inspected, event] = [listSchema.safeParse(answer), inspectSchema.safeParse(answer), eventSchema.safeParse(answer)]
    if (listed.success) listed.data.map(fromList)
    else describeIssues(listed.error)
    if (inspected.success)
      resolveGpuRequest(fromInspect(inspected.data).gpuWish ?? { requests: [], devicePaths: [], privileged: false }, [{ index: 0, uuid: UUID, minor: 0 }])
    else describeIssues(inspected.error)
    if (event.success) toContainerEvent(event.data)
  },
  { inputs: 200_000 },
)

const VALUES = Float64Array.from({ length: 600 }, (_, i) => (i % 7 === 0 ? Number.NaN : i * 1_048_576))
const rawBytes = encodeRaw(VALUES, VALUES.length)?.bytes ?? new Uint8Array(0)
const rolled = createRollup()
rollSeconds(rolled, VALUES, 0, VALUES.length, 0, 10)
const BLOCK = packBlock([
  { id: 1, bytes: rawBytes },
  { id: 2, bytes: rawBytes },
])
const journalRecords = (): readonly Uint8Array[] => {
  const writer = createJournalWriter<number>()
  return [1, 2].map((second) => {
    for (const key of [1, 2, 3]) writer.add(key, second, key * second * 1.5)
    return writer.take((key) => key).bytes
  })
}
/** Refusals of the codec: the bytes end too soon or say what no writer writes. A stack that overflows is a RangeError too, and none of them. */
const refuses = (error: Error): boolean => error instanceof RangeError && /^(?:history|journal)/.test(error.message)
const scratch = createRawScratch()
const into = createRollup()
export const historyBlocks = parserOf(
  'history-blocks',
  'blocks of the history on a damaged disk',
  [BLOCK, BLOCK.subarray(0, 40)],
  (input) => {
    for (const { bytes } of unpackBlock(input)) decodeRaw(bytes, scratch)
  },
  { refuses, inputs: 300_000 },
)
export const historyRaw = parserOf('history-columns', 'one series of a block', [rawBytes], (input) => void decodeRaw(input, scratch), { refuses })
export const historyRollups = parserOf('history-rollups', 'one series of a coarser block', [encodeRollup(rolled)], (input) => decodeRollup(input, into), {
  refuses,
})
export const historyJournal = parserOf(
  'history-journal',
  'records of the journal, whose checksum a liar has put right',
  [...journalRecords(), encodeMarker({ ids: [1, 2, 9], before: 30, until: 1_763_600_000 })],
  (input) => {
    const reader = createJournalReader()
    const honest = Buffer.from(input)
    if (honest.length >= 4) honest.writeUInt32BE(crc32(honest.subarray(4)), 0)
    for (const record of [...journalRecords(), input, honest]) reader.read(record, () => {})
    decodeMarker(input)
  },
  { refuses, inputs: 500_000 },
)
