// Which actions an incident calls for, and with which arguments. Pure.
import { fits } from '../../alerts/routing/match.ts'
import type { Action } from '../model/action.ts'
import type { IncidentSummary } from '../model/incident.ts'

/** Those of whose incident it is not known what the command names. */
export type Filled = { readonly argv: readonly string[] } | { readonly missing: string }

/** Whether this incident calls for the action: it fires, is not silenced, and is not a consequence of another one. */
export const callsFor = (action: Action, incident: IncidentSummary): boolean =>
  incident.status === 'firing' && incident.silenced === undefined && incident.part_of === undefined && fits(action, incident)

function valuesOf({ id, kind, severity, subject: { gpu, container, process } }: IncidentSummary, host: string): Readonly<Record<string, string | undefined>> {
  return {
    incident: id,
    kind,
    severity,
    host,
    gpu: gpu?.uuid === undefined || gpu.index === undefined ? undefined : String(gpu.index),
    uuid: gpu?.uuid,
    container: container?.name,
    container_id: container?.id,
    pid: process === undefined ? undefined : String(process.pid),
  }
}

/** Names come from outside: none may be taken for an option. */
const isSafe = (value: string): boolean => !value.startsWith('-') && !/[\0\n\r]/.test(value)

export function fill(command: readonly string[], incident: IncidentSummary, host: string): Filled {
  const values = valuesOf(incident, host)
  let missing: string | undefined
  const argv = command.map((argument) =>
    argument.replace(/\{([a-z_]+)\}/g, (whole, name: string) => {
      if (!Object.hasOwn(values, name)) return whole
      const value = values[name]
      if (value === undefined || !isSafe(value)) missing ??= name
      return value ?? ''
    }),
  )
  return missing === undefined ? { argv } : { missing }
}

/** What a command knows of its incident, beside the variables that were named. */
export function variablesOf(incident: IncidentSummary, host: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = { WARPWATCH_TITLE: incident.title.slice(0, 1_000) }
  for (const [name, value] of Object.entries(valuesOf(incident, host))) if (value !== undefined) found[`WARPWATCH_${name.toUpperCase()}`] = value
  return found
}
