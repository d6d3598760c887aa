// What is wrong with the way in which a service asks for GPUs, whatever host it runs on: what Compose or the engine would refuse, in their terms.
import { nearest } from '../../lib/nearest.ts'
import { DRIVER_CAPABILITIES, givenOf, gpuAsks, type GpuAsk } from './gpu.ts'
import { reservation } from './look.ts'
import { at, itemsOf, kindOf, textOf, type Part, type Place } from './part.ts'
import type { ComposeService } from './service.ts'

export type RequestProblem = { readonly status: 'fail' | 'warn'; readonly place: Place; readonly message: string; readonly why: string; readonly yaml: string }

const KEYS = ['driver', 'count', 'device_ids', 'capabilities', 'options']
const DRIVERS = ['nvidia', 'cdi', 'amd.com/gpu', 'amd', 'intel']
/** Places where a request is written but not read. */
const MISPLACED = [
  ['deploy', 'devices'],
  ['deploy', 'reservations'],
  ['deploy', 'resources', 'devices'],
  ['deploy', 'resources', 'limits', 'devices'],
] as const

const problem = (place: Place, message: string, why: string, yaml: string, status: 'fail' | 'warn' = 'fail'): RequestProblem => ({
  status,
  place,
  message,
  why,
  yaml,
})
const known = (part: Part): boolean => part.kind !== 'scalar' || part.known

function ofAsk(ask: GpuAsk, service: ComposeService): readonly RequestProblem[] {
  const { part, driver, capabilities, short } = ask
  if (short && part.kind === 'scalar') return []
  const caps = ['gpu', ...capabilities.filter((one) => DRIVER_CAPABILITIES.includes(one))].join(', ')
  const right = reservation(service, givenOf(ask), caps)
  if (part.kind !== 'map')
    return [problem(part, `a device is requested as ${kindOf(part)}; expected a map with driver, count and capabilities`, 'Ask like this.', right)]
  const found: RequestProblem[] = []
  const report = (place: Place, message: string, why: string, yaml = right): void => void found.push(problem(place, message, why, yaml))
  for (const [key, own] of part.entries) {
    if (!KEYS.includes(key) && !key.startsWith('x-'))
      report(own, `"${key}" is no key of a device; "${nearest(key, KEYS) ?? 'count'}" is: Compose refuses the file`, 'Ask like this.')
  }
  const caption = at(part, 'capabilities')
  if (caption === undefined && !short) report(part, '"capabilities" is missing: Compose refuses a device without it', 'Name what it is to be able to do.')
  if (caption !== undefined && known(caption) && (caption.kind !== 'list' || itemsOf(caption).some((item) => item.kind !== 'scalar'))) {
    report(caption, `capabilities must be a list of words such as [gpu], not ${caption.kind === 'list' ? 'a list of lists' : kindOf(caption)}`, 'Write a list.')
  }
  const strange = driver === undefined || driver === 'nvidia' ? capabilities.filter((one) => !['gpu', 'nvidia', ...DRIVER_CAPABILITIES].includes(one)) : []
  if (strange.length > 0) {
    report(
      caption ?? part,
      `capabilities: no driver has "${strange.join('", "')}": the engine answers "could not select device driver"`,
      'Name what there is: gpu, and compute, utility, graphics, video where only those are wanted.',
    )
  }
  if (driver !== undefined && !DRIVERS.includes(driver) && !driver.includes('/')) {
    const place = at(part, 'driver') ?? part
    report(place, `driver: the engine has none of the name "${driver}": it answers "could not select device driver"`, 'Name the driver of NVIDIA.')
  }
  const [count, ids] = [at(part, 'count'), at(part, 'device_ids')]
  if (count !== undefined && ids !== undefined) {
    report(
      count,
      '"count" and "device_ids" exclude each other: Compose refuses the file',
      'Keep the names and take the line count out, or the other way round.',
    )
  }
  if (count !== undefined && known(count)) {
    const text = textOf(count) ?? ''
    if (!/^(?:all|-1|\d+)$/.test(text))
      report(
        count,
        `count must be a whole number or all, not ${text === '' ? kindOf(count) : JSON.stringify(text.slice(0, 40))}`,
        'Ask for a number of GPUs, or for all.',
      )
    else if (Number(text) === 0)
      found.push(
        problem(
          count,
          'count: 0 gives the container no GPU',
          'Ask for at least one, or take the whole reservation out.',
          reservation(service, 'count: 1', caps),
          'warn',
        ),
      )
  }
  if (ids !== undefined && known(ids)) {
    const numbers = itemsOf(ids).filter((item) => item.kind === 'scalar' && typeof item.value === 'number')
    if (ids.kind !== 'list') report(ids, `device_ids must be a list such as ["0"], not ${kindOf(ids)}`, 'Write a list.')
    else if (numbers.length > 0)
      report(numbers[0] ?? ids, 'device_ids must be texts, not numbers: Compose refuses the file ("must be a string")', 'Put the numbers in quotes.')
    else if (ids.items.length === 0)
      report(
        ids,
        'device_ids must name at least one GPU, not be an empty list',
        'Name one, or ask for all by count: all.',
        reservation(service, 'count: all', caps),
      )
  }
  const [first, ...more] = found
  if (first === undefined || more.length === 0) return found
  // One request is reported once, with all that is wrong and the one way to write it.
  const message = found.map((one) => one.message.replace(/: Compose refuses the file.*$/, '')).join('; ')
  return [problem(first.place, `${message}: Compose refuses it`, 'Ask like this.', right, found.some(({ status }) => status === 'fail') ? 'fail' : 'warn')]
}

export function requestProblems(service: ComposeService): readonly RequestProblem[] {
  const { part } = service
  const found: RequestProblem[] = []
  for (const path of MISPLACED) {
    const wrong = at(part, ...path)
    if (wrong === undefined) continue
    const message = `${path.join('.')} is no place for a GPU: Compose refuses it or ignores it`
    found.push(problem(wrong, message, 'It belongs below deploy.resources.reservations.devices.', reservation(service, 'count: all')))
  }
  for (const item of itemsOf(at(part, 'devices'))) {
    if (item.kind !== 'map' || !['driver', 'capabilities', 'count'].some((key) => item.entries.has(key))) continue
    found.push(
      problem(
        item,
        '`devices:` of a service takes device nodes (/dev/…), not requests for GPUs',
        'It belongs below deploy.resources.reservations.devices.',
        reservation(service, 'count: all'),
      ),
    )
  }
  const devices = at(part, 'deploy', 'resources', 'reservations', 'devices')
  if (devices !== undefined && devices.kind !== 'list' && known(devices)) {
    found.push(problem(devices, `devices must be a list, not ${kindOf(devices)}`, 'Begin the first device with a dash.', reservation(service, 'count: all')))
  }
  const gpus = at(part, 'gpus')
  if (gpus !== undefined && gpus.kind !== 'list' && known(gpus) && textOf(gpus) !== 'all') {
    const number = Number(textOf(gpus))
    const message = `gpus must be all or a list, not ${textOf(gpus) === undefined ? kindOf(gpus) : JSON.stringify(textOf(gpus)?.slice(0, 40))}`
    found.push(problem(gpus, message, 'Ask for a number of GPUs like this.', `gpus:\n  - count: ${Number.isInteger(number) && number > 0 ? number : 'all'}`))
  }
  return [...found, ...gpuAsks(service).flatMap((ask) => ofAsk(ask, service))]
}
