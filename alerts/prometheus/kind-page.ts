// What a runbook says of its kind in short: its title, and the sentences before the first heading. The rules take their texts from there, so that nothing is said twice.
import type { IncidentKind } from '../../agent/model/kinds.ts'

export type KindPage = { readonly title: string; readonly lead: string }
export type KindPages = ReadonlyMap<IncidentKind, KindPage>

const HEAD = /^# `([a-z][a-z0-9_]*)`: (.+)\n\n([^\n#][^\n]+)\n/

/** Throws with what was expected where the page is not as a test holds all of them. */
export function readKindPage(kind: string, markdown: string): KindPage {
  const [, named, title, lead] = HEAD.exec(markdown) ?? []
  if (named !== kind || title === undefined || lead === undefined)
    throw new Error(`runbook of ${kind}: must begin with # \`${kind}\`: TITLE and a paragraph, not ${JSON.stringify(markdown.slice(0, 60))}`)
  return { title, lead }
}
