// Whom an incident hit, in words: for headlines, and in full.
import type { Incident } from '../../agent/model/incident.ts'
import { andList, indexRuns, upperFirst } from '../../agent/text/grammar.ts'
import { clip, oneLine } from './clean.ts'

type About = Pick<Incident, 'title' | 'subject' | 'facts'>
const short = (text: string): string => clip(oneLine(text), 120)

export const gpuName = ({ subject: { gpu } }: Pick<Incident, 'subject'>): string | undefined =>
  gpu === undefined ? undefined : gpu.index === undefined ? `GPU ${short(gpu.pci_bus_id ?? gpu.uuid ?? '?')}` : `GPU ${gpu.index}`

function job({ subject: { container, process } }: Pick<Incident, 'subject'>): string | undefined {
  if (container !== undefined) return `container ${short(container.name)}`
  if (process === undefined) return undefined
  return `process ${process.name === undefined ? '' : `${short(process.name)}, `}pid ${process.pid}`
}

/** `Out of GPU memory: container trainer on GPU 3 of gpu-node-07`; the GPU once, though the title may hold it. */
export function headlineOf(incident: About, host: string): string {
  const title = clip(oneLine(incident.title), 160)
  const gpu = gpuName(incident)
  const named = gpu !== undefined && new RegExp(`\\b${gpu.replace(/[^\w ]/g, '\\$&')}\\b`).test(title)
  const place = gpu === undefined || named ? `on ${short(host)}` : `on ${gpu} of ${short(host)}`
  // `Xid 79 on GPU 5 of gpu-01: GPU has fallen off the bus`: the fault's own words may speak of a GPU.
  const [, number, meaning] = /^(S?Xid \d{1,6}): (.+)$/.exec(title) ?? []
  const who = job(incident)
  const { container, process } = incident.subject
  // Some titles begin with who it was.
  if (who !== undefined && title.startsWith(`${short(container?.name ?? process?.name ?? '?')} `)) return `${title} (${short(host)})`
  // A fault of the card names nobody; who works there is what people ask first.
  const [first, ...others] = who === undefined ? (incident.facts.affected ?? []) : []
  const users = first === undefined ? '' : `, used by ${short(first)}${others.length === 0 ? '' : ` and ${others.length} more`}`
  if (number !== undefined && meaning !== undefined) return `${number}${who === undefined ? '' : ` in ${who}`} ${place}${users}: ${meaning}`
  return who === undefined ? `${title} ${place}${users}` : `${title}: ${who} ${place}`
}

/** `Out of GPU memory on GPU 6` and `GPU 0: held back by heat` without the number: what incidents on several cards share. */
export function sharedTitle({ title }: Pick<Incident, 'title'>): string {
  const bare = oneLine(title)
    .replace(/^GPU \d+: ?/, '')
    .replace(/^GPU \d+ /, 'GPU ')
    .replace(/ (?:on|of) GPU \d+$/, '')
    .replace(/(?:, memory at| at|:) \d+ °C$/, '')
    .replace(/^\S{1,120}(?: \(pid \d+\))? ran out of (?:GPU )?memory\b.*$/, 'Out of GPU memory')
  return clip(upperFirst(bare), 160)
}

/** Everything that tells a job and a card apart from others. */
export function whereOf({ subject: { container, process, gpu, host: own } }: Pick<Incident, 'subject'>, host: string): string {
  const parts: string[] = []
  if (container !== undefined) {
    const { name, image, namespace, pod } = container
    parts.push(`container ${short(name)}${image === undefined ? '' : ` (image ${short(image)})`}`)
    if (pod !== undefined) parts.push(`pod ${namespace === undefined ? '' : `${short(namespace)}/`}${short(pod)}`)
  }
  if (process !== undefined) {
    const inner = process.inner_pid === undefined ? '' : `, ${process.inner_pid} inside the container`
    parts.push(`process ${process.name === undefined ? '' : `${short(process.name)} `}(pid ${process.pid}${inner})`)
  }
  if (gpu !== undefined) {
    const known = [gpu.name, gpu.uuid ?? gpu.pci_bus_id].filter((part) => part !== undefined).map(short)
    parts.push(`${gpu.index === undefined ? 'GPU' : `GPU ${gpu.index}`}${known.length === 0 ? '' : ` (${known.join(', ')})`}`)
  }
  parts.push(`host ${short(own?.name ?? host)}`)
  return parts.join(', ')
}

/** `GPU 0–7`, `GPU 0, 2 and 5`; undefined where none is known by its number. */
export function gpuRange(incidents: readonly Pick<Incident, 'subject'>[]): string | undefined {
  const numbers = incidents.flatMap(({ subject }) => subject.gpu?.index ?? [])
  if (numbers.length === 0) return undefined
  return `GPU ${andList(indexRuns(numbers))}`
}
