// The usual causes of an Xid as a sentence, the likeliest first.
import { orList } from '../../text/grammar.ts'
import type { XidCause } from './entry.ts'

const NAMES: Readonly<Record<XidCause, string>> = {
  program: 'an application bug',
  driver: 'the driver',
  hardware: 'the hardware',
  bus: 'the PCIe link',
  heat: 'heat',
  'host memory': 'host memory',
  user: 'an action of a user',
}

export function causesSentence(causes: readonly XidCause[]): string | undefined {
  const [first, ...rest] = causes.map((cause) => NAMES[cause])
  if (first === undefined) return undefined
  return `Most likely ${first}${rest.length === 0 ? '' : `; less likely ${orList(rest)}`}.`
}
