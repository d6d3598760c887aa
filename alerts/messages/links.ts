// Where the reader of a message finds an incident: by a link, or, where the dashboard listens on its own host only, by what to type to reach it.
import { runbookPath, type IncidentKind } from '../../agent/model/kinds.ts'
import { messagePagePath, type MessagePage } from '../../agent/model/message-pages.ts'
import type { Message, OutgoingIncident, Reach } from '../../agent/model/notification.ts'
import { oneLine } from './clean.ts'

export type Link = { readonly text: string; readonly url: string }
/** The page without a link. */
export type Directions = {
  /** A sentence without a URL, which chats would make a link of. */
  readonly text: string
  /** Where the page is; goes before the lines. */
  readonly place: string
  /** To copy: what to type on the reader's machine, and what to open there then. */
  readonly lines: readonly string[]
  /** The same incident in a terminal of the host. */
  readonly command: string
}

const incidentPath = (id: string): string => `/#/incidents/${encodeURIComponent(id)}`

/** undefined: no link would lead the reader there. */
export const incidentUrl = ({ base_url }: Reach, id: string): string | undefined => (base_url === undefined ? undefined : `${base_url}${incidentPath(id)}`)
export function runbookUrl({ base_url }: Reach, kind: IncidentKind): string | undefined {
  const path = runbookPath(kind)
  return base_url === undefined || path === undefined ? undefined : `${base_url}${path}`
}

export const messagePageUrl = ({ base_url }: Reach, page: MessagePage): string | undefined =>
  base_url === undefined ? undefined : `${base_url}${messagePagePath(page)}`

export function linksOf({ id, kind }: Pick<OutgoingIncident, 'id' | 'kind'>, reach: Reach): readonly Link[] {
  const [incident, runbook] = [incidentUrl(reach, id), runbookUrl(reach, kind)]
  return [...(incident === undefined ? [] : [{ text: 'Open incident', url: incident }]), ...(runbook === undefined ? [] : [{ text: 'Runbook', url: runbook }])]
}

/** A name from the configuration may be one for people only, or hold what a shell reads. */
const sshHost = (host: string): string => (/^[A-Za-z0-9][\w.-]*$/.test(host) ? host : 'HOST')

/** undefined where a link can be made. */
export function directionsOf({ id }: Pick<OutgoingIncident, 'id'>, { base_url, local_url, host }: Reach & Pick<Message, 'host'>): Directions | undefined {
  if (base_url !== undefined) return undefined
  const { port, host: local } = new URL(local_url)
  const tunnel = `ssh -L ${port || '80'}:${local} ${sshHost(host)}`
  const place = `on ${oneLine(host)}`
  const command = `warpwatch incidents ${id}`
  return {
    text: `${place}, ${local}${incidentPath(id)} (from your machine: ${tunnel}), or ${place}: ${command}`,
    place,
    command,
    lines: [tunnel, `${local_url}${incidentPath(id)}`],
  }
}
