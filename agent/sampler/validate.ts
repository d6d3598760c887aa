// Checks what comes from the child by hand: the child is our code, but a native library shares its memory. No zod, this runs for every message.
import { GAP_REASONS, type Gap, type GapReason } from '../model/reading.ts'
import { RATE_MS, type FromChild, type GpuSummary } from './protocol.ts'

/** More GPUs, series or processes than any host has; a message beyond is garbage, not data. */
const MAX_ITEMS = 100_000
const MAX_GPU_INDEX = 1023

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
const isIndex = (value: unknown): value is number => isCount(value) && value <= MAX_GPU_INDEX
const isOptional = (value: unknown, check: (value: unknown) => boolean): boolean => value === undefined || check(value)
const isArrayOf = (value: unknown, check: (item: unknown) => boolean): value is readonly unknown[] =>
  Array.isArray(value) && value.length <= MAX_ITEMS && value.every(check)
const isText = (value: unknown): value is string => typeof value === 'string'
const isLabels = (value: unknown): boolean => isFields(value) && Object.values(value).every(isText)
const isReason = (value: unknown): value is GapReason => (GAP_REASONS as readonly unknown[]).includes(value)
const isInteger = (value: unknown): boolean => Number.isSafeInteger(value)

const isReasoned = (value: unknown): boolean =>
  isFields(value) && isReason(value['reason']) && isOptional(value['code'], isInteger) && isOptional(value['detail'], isText)
const isSummary = (value: unknown): value is GpuSummary =>
  isFields(value) &&
  isIndex(value['index']) &&
  isText(value['uuid']) &&
  value['uuid'] !== '' &&
  isText(value['name']) &&
  isText(value['pciBusId']) &&
  isOptional(value['computeCapability'], isText) &&
  isOptional(value['xidGap'], isReasoned)
const isLost = (value: unknown): boolean =>
  isFields(value) && isIndex(value['index']) && isReason(value['reason']) && isInteger(value['code']) && isText(value['detail'])
const isGap = (value: unknown): value is Gap => isFields(value) && isText(value['metric']) && isLabels(value['labels']) && isReasoned(value)
const isXid = (value: unknown): boolean => isFields(value) && isCount(value['xid']) && isOptional(value['gi'], isCount) && isOptional(value['ci'], isCount)
const isProcess = (value: unknown): boolean =>
  isFields(value) &&
  isCount(value['pid']) &&
  isText(value['type']) &&
  (value['bytes'] === null || isCount(value['bytes'])) &&
  isOptional(value['gi'], isCount) &&
  isOptional(value['ci'], isCount)
const isLoad = (value: unknown): boolean =>
  isFields(value) && isCount(value['pid']) && typeof value['ratio'] === 'number' && value['ratio'] >= 0 && value['ratio'] <= 1
const isAnnouncement = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 3 && isCount(value[0]) && value[0] < MAX_ITEMS && isText(value[1]) && isLabels(value[2])

/** What is wrong with a message of this type, or undefined when nothing is. Values may be null here (JSON's NaN): the series table drops those alone. */
function faultOf(message: Fields): string | undefined {
  switch (message['type']) {
    case 'gpu':
      if (!isCount(message['id']) || !isIndex(message['index']) || !isText(message['uuid']) || message['uuid'] === '') return 'id, index and uuid of a sample'
      if (!isText(message['rate']) || !Object.hasOwn(RATE_MS, message['rate'])) return 'rate fast, slow or rare'
      if (typeof message['durationMs'] !== 'number' || !(message['durationMs'] >= 0)) return 'durationMs of at least 0'
      if (!isArrayOf(message['series'], isCount)) return 'series numbers'
      if (!Array.isArray(message['values']) || message['values'].length !== message['series'].length) return 'as many values as series'
      if (!isOptional(message['gaps'], (gaps) => isArrayOf(gaps, isGap))) return 'gaps with metric, labels and a known reason'
      if (!isOptional(message['xids'], (xids) => isArrayOf(xids, isXid))) return 'xids with a number each'
      if (!isOptional(message['processes'], (rows) => isArrayOf(rows, isProcess))) return 'processes with pid, type and bytes'
      if (!isOptional(message['sameProcesses'], (same) => same === true)) return 'sameProcesses true or absent'
      if (!isOptional(message['loads'], (loads) => isArrayOf(loads, isLoad))) return 'loads with pid and ratio'
      return undefined
    case 'done':
      return isCount(message['id']) ? undefined : 'an id'
    case 'series':
      return isArrayOf(message['series'], isAnnouncement) ? undefined : 'announcements of [number, metric, labels]'
    case 'hello':
      if (!isText(message['driverVersion']) || !isText(message['library'])) return 'driverVersion and library'
      if (!isOptional(message['missing'], (names) => isArrayOf(names, isText))) return 'names of missing functions'
      if (!isArrayOf(message['gpus'], isSummary)) return 'gpus with index, uuid, name and pciBusId'
      return isArrayOf(message['lost'], isLost) ? undefined : 'lost GPUs with index, reason, code and detail'
    case 'failed':
      return isReason(message['reason']) && isText(message['detail']) && isOptional(message['code'], isInteger) ? undefined : 'a reason and a detail'
    default:
      return 'type hello, series, gpu, done or failed'
  }
}

const isSound = (_message: Fields, fault: string | undefined): _message is Fields & FromChild => fault === undefined

/** The message, or one line that says what is wrong with it. */
export function checkMessage(message: unknown): FromChild | string {
  if (!isFields(message)) return `a message is no object but ${message === null ? 'null' : typeof message}`
  const fault = faultOf(message)
  if (isSound(message, fault)) return message
  return `a message needs ${fault}: ${(JSON.stringify(message) ?? '').slice(0, 200)}`
}
