// Makes the page of any simulated host at any time from one recorded page: text between slots, and what is in each slot.
import { containerId, hostName, lifeAt, lifeOf, pidOf, uuidOf, type Life } from './host.ts'
import { keyOf, PAGE_S, type Recording } from './recording.ts'

type Slot =
  | { readonly kind: 'value'; readonly values: readonly number[]; readonly counter: boolean; readonly box: string | undefined }
  | { readonly kind: 'uuid'; readonly gpu: number }
  | { readonly kind: 'host' }
  | { readonly kind: 'container'; readonly box: string }
  | { readonly kind: 'pid'; readonly pid: string; readonly box: string | undefined }

export type Template = {
  readonly contentType: string
  readonly series: number
  /** How many series of a host carry the id of each container, or the pid of a process in it: they end with it. */
  readonly seriesByBox: ReadonlyMap<string, number>
  /** `now` in milliseconds; `churn`: so many times faster than life containers come and go. */
  readonly page: (host: number, now: number, churn?: number) => string
}

const CONTENT_TYPES = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
} as const
const IDENTITY = /GPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=[Hh]ostname=")[^"]*|(?<=container_id=")[^"]*|(?<=\bpid=")[^"]*/g

/** Whole numbers stay whole; others keep the decimals that counters on the page have. */
const counted = (value: number): string => (Number.isInteger(value) ? String(value) : String(Number(value.toFixed(3))))

/** In parts of 1/64, which sums of so many rounds hold exactly: rounding would let a counter fall by its last digit where one round passes into the next. */
const exact = (value: number): number => Math.floor(value * 64) / 64
/** A recorded counter goes on for ever: each round adds what the recording's own added. */
function counterAt(values: readonly number[], step: number, from: number): number {
  const first = exact(values[0] ?? 0)
  const last = exact(values.at(-1) ?? 0)
  const rounds = Math.floor(step / values.length)
  const within = exact(values[step % values.length] ?? 0) - first
  return exact(from) + within + rounds * (last - first)
}

/** dcgm-exporter types the NVLink bandwidth as a counter, but it is a rate. */
const neverFalls = (values: readonly number[]): boolean => values.every((value, at) => at === 0 || value >= (values[at - 1] ?? value))

export function createTemplate(recording: Recording, format: keyof typeof CONTENT_TYPES): Template {
  const counters = new Set(recording.counters)
  const texts: string[] = ['']
  const slots: Slot[] = []
  const seriesByBox = new Map<string, number>()
  const uuids: string[] = []
  let series = 0
  const literal = (text: string): void => void (texts[texts.length - 1] += text)
  const slot = (one: Slot): void => {
    slots.push(one)
    texts.push('')
  }
  const gpuOf = (uuid: string): number => (uuids.includes(uuid) ? uuids.indexOf(uuid) : uuids.push(uuid) - 1)
  /** The same thing is the same slot, so that a page asks for it once. */
  const things = new Map<string, Slot>()
  const thing = (one: Slot): void => {
    const name = JSON.stringify(one)
    const known = things.get(name) ?? one
    things.set(name, known)
    slot(known)
  }

  for (const line of recording[format].split('\n')) {
    if (line === '' || line.startsWith('#')) {
      if (line !== '') literal(`${line}\n`)
      continue
    }
    const key = keyOf(line)
    const values = recording.values[key]
    if (values === undefined) continue
    series += 1
    const box = /container_id="[^"]*"/.test(key) ? /\bcontainer="([^"]*)"/.exec(key)?.[1] : undefined
    if (box !== undefined) seriesByBox.set(box, (seriesByBox.get(box) ?? 0) + 1)
    let from = 0
    for (const found of key.matchAll(IDENTITY)) {
      literal(key.slice(from, found.index))
      from = found.index + found[0].length
      const before = key.slice(0, found.index)
      if (found[0].startsWith('GPU-')) thing({ kind: 'uuid', gpu: gpuOf(found[0]) })
      else if (before.endsWith('ostname="')) thing({ kind: 'host' })
      else if (/\bpid="$/.test(before)) thing({ kind: 'pid', pid: found[0], box })
      else if (box !== undefined) thing({ kind: 'container', box })
    }
    literal(`${key.slice(from)} `)
    slot({ kind: 'value', values, counter: counters.has(key.replace(/\{.*/, '')) && neverFalls(values), box })
    literal('\n')
  }

  return {
    contentType: CONTENT_TYPES[format],
    series,
    seriesByBox,
    page(host, now, churn = 1) {
      const lives = new Map<string, Life>()
      const lifeOfBox = (box: string): Life => {
        const known = lives.get(box) ?? lifeAt(host, box, now * churn)
        lives.set(box, known)
        return known
      }
      // Each is in dozens of lines.
      const names = new Map<Slot, string>()
      const named = (of: Slot, make: () => string): string => {
        const known = names.get(of) ?? make()
        names.set(of, known)
        return known
      }
      // Hosts tell the same story, but none at the same time.
      const step = Math.floor(now / 1_000 / PAGE_S) + host * 7
      let page = texts[0] ?? ''
      for (const [at, one] of slots.entries()) {
        if (one.kind === 'uuid') page += named(one, () => uuidOf(host, one.gpu))
        else if (one.kind === 'host') page += hostName(host)
        else if (one.kind === 'container') page += named(one, () => containerId(host, one.box, lifeOfBox(one.box).generation))
        else if (one.kind === 'pid') page += named(one, () => pidOf(host, one.pid, one.box === undefined ? 0 : lifeOfBox(one.box).generation))
        else if (!one.counter) page += String(one.values[step % one.values.length])
        else if (one.box === undefined) page += counted(counterAt(one.values, step, one.values[0] ?? 0))
        else page += counted(counterAt(one.values, Math.floor((now - lifeOfBox(one.box).bornAt / churn) / 1_000 / PAGE_S), 0))
        page += texts[at + 1] ?? ''
      }
      return page
    },
  }
}

/** New series a day that the ends and starts of containers make on one host, on average. */
export function churnedPerDay(template: Template): number {
  const day = 24 * 3_600_000
  return [...template.seriesByBox].reduce((sum, [box, count]) => sum + (count * day) / lifeOf(box), 0)
}
