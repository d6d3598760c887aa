// A sampler child without NVML: speaks the protocol as a script file says, which the test may change while it runs.
import { writeFileSync } from 'node:fs'
import { showInFlight } from '../../../agent/drm/card-set.ts'
import { functionOrdinal } from '../../../agent/nvml/names.ts'
import { formatInFlightCall, type Rate, type StartRequest, type ToChild } from '../../../agent/sampler/protocol.ts'
import { readScript, type Script } from './script.ts'

let start: StartRequest | undefined
const path = process.env['SCRIPT'] ?? ''
const script = (): Script => readScript(path)
const pause = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
const send = (message: unknown): void => void process.send?.(message)
/** As the real child before each native call: Node passes a title on to prctl(PR_SET_NAME), and the record outlives the process. */
const lastWords = (gpu: number | undefined): void => showInFlight(formatInFlightCall(gpu, functionOrdinal('nvmlDeviceGetPowerUsage')), start?.callFd)
const uuidOf = (index: number): string => script().uuids?.[index] ?? `GPU-${index}`

let lastHello = ''
/** GPUs and rates whose gaps were reported: they hold until they change. */
const reported = new Set<string>()
const announced = new Map<string, number>()

/** Hangs as a native call does: this process can do nothing else until the script no longer says so. */
function call(gpu: number | undefined): void {
  lastWords(gpu)
  const where = gpu ?? -1
  const hangs = (): boolean => script().hang?.includes(where) === true
  while (hangs()) pause(10)
  if (script().crash?.includes(where)) process.kill(process.pid, 'SIGSEGV')
}
function open(index: number): void {
  const hangs = (): boolean => script().hangOpening?.includes(index) === true
  if (hangs()) lastWords(index)
  while (hangs()) pause(10)
}
function present(): readonly number[] {
  const { gpus, lost = [] } = script()
  const leaveOut = start?.leaveOut ?? []
  const indices = [...Array(gpus).keys()].filter((index) => !lost.includes(index) && !leaveOut.includes(index))
  return start?.only === undefined ? indices : indices.filter((index) => index === start?.only)
}
const lineUp = (indices: readonly number[]) => ({
  gpus: indices.map((index) => ({ index, uuid: uuidOf(index), name: 'Fake', pciBusId: `00000000:0${index}:00.0` })),
  lost: (script().lost ?? []).map((index) => ({ index, reason: 'gpu_lost', code: 15, detail: 'GPU is lost' })),
})
function hello(indices: readonly number[]): void {
  const found = lineUp(indices)
  lastHello = JSON.stringify(found)
  send({ type: 'hello', driverVersion: '999.1', library: 'fake', ...found })
}
function sample(id: number, index: number, rate: Rate): void {
  call(index)
  const labels = { gpu: String(index), uuid: uuidOf(index) }
  const place = `${index} ${labels.uuid}`
  const at = announced.get(place) ?? announced.size * 3
  if (!announced.has(place)) {
    announced.set(place, at)
    const series = ['warpwatch_gpu_power_watts', 'warpwatch_gpu_memory_used_bytes', 'warpwatch_gpu_power_limit_watts'].map((metric, n) => [
      at + n,
      metric,
      labels,
    ])
    send({ type: 'series', series })
  }
  const { watts = 100, xids = [], processes, bad = [] } = script()
  for (const message of bad) send(message)
  const base = { type: 'gpu', id, index, uuid: labels.uuid, rate, durationMs: 1 }
  if (script().gone?.includes(index)) {
    reported.delete(`${place} ${rate}`) // the gaps change, so they are reported again afterwards
    const gaps = [{ metric: 'gpu', labels, reason: 'gpu_lost', code: 15, detail: 'GPU is lost' }]
    return send({ ...base, series: [], values: [], gaps, ...(xids.length > 0 ? { xids: xids.map((xid) => ({ xid })) } : {}) })
  }
  const fast = rate === 'fast'
  const gaps = [{ metric: 'warpwatch_gpu_fan_speed_ratio', labels, reason: 'not_supported', code: 3 }]
  send({
    ...base,
    series: fast ? [at, at + 1] : [at + 2],
    values: fast ? [watts, 5_000] : [700],
    ...(reported.has(`${place} ${rate}`) ? {} : { gaps }),
    ...(fast && xids.length > 0 ? { xids: xids.map((xid) => ({ xid })) } : {}),
    ...(fast && processes !== undefined ? { processes } : {}),
  })
  reported.add(`${place} ${rate}`)
}

process.on('message', (message: ToChild) => {
  if (message.type === 'start') {
    start = message
    const { failed, silent } = script()
    if (silent) return
    call(undefined)
    if (failed !== undefined) {
      send({ type: 'failed', ...failed })
      setTimeout(() => process.exit(1), 5)
      return
    }
    for (const index of present()) open(index)
    return hello(present())
  }
  const { flood, exit } = script()
  if (exit !== undefined) process.exit(exit)
  if (flood) for (let i = 0; i < 50_000; i++) send({ type: 'series', series: [] })
  // Told before its first sample, as the real child enumerates before it reads.
  const indices = present()
  if (JSON.stringify(lineUp(indices)) !== lastHello) hello(indices)
  for (const index of indices) for (const rate of 'rates' in message ? message.rates : []) sample(message.id, index, rate)
  const { answered } = script()
  process.send?.({ type: 'done', id: message.id }, () => answered !== undefined && writeFileSync(answered, String(message.id)))
})
process.on('disconnect', () => process.exit(0))
