// The whole rule file, as data and as YAML with its comments.
import { Document, isMap, isSeq, type Node } from 'yaml'
import { INCIDENT_KINDS } from '../../agent/model/kinds.ts'
import { agentGroup } from './agent.ts'
import { incidentGroup } from './incidents.ts'
import type { KindPages } from './kind-page.ts'
import { numbersGroup, type JudgedNumbers } from './numbers.ts'
import { recordingGroup } from './recording.ts'
import { OWN_LINKS, type Links, type RuleGroup } from './rule.ts'

/** By which name agents are scraped, unless told otherwise. */
export const JOB = 'warpwatch'

export type RuleFileOptions = {
  readonly pages: KindPages
  readonly job?: string
  readonly links?: Links
  /** Prometheus judges what it can of these; without them the agent judges all. */
  readonly numbers?: readonly JudgedNumbers[]
  /** False where agents tell Alertmanager themselves. */
  readonly incidents?: boolean
}

export function ruleGroups({ pages, job = JOB, links = OWN_LINKS, numbers, incidents = true }: RuleFileOptions): readonly RuleGroup[] {
  const others = [agentGroup(job, links), recordingGroup]
  if (!incidents) return others
  if (numbers === undefined) return [incidentGroup(INCIDENT_KINDS, pages, links), ...others]
  const { group, left } = numbersGroup(numbers, pages, links)
  return [incidentGroup(left, pages, links), group, ...others]
}

/** As Prometheus reads it: without the comments. */
export function ruleData(groups: readonly RuleGroup[]): { readonly groups: readonly object[] } {
  return {
    groups: groups.map(({ name, interval, rules }) => ({ name, interval, rules: rules.map((rule) => ({ ...rule, comment: undefined })) })),
  }
}

const spaced = (text: string): string => text.replace(/^/gm, ' ')
function comment(node: unknown, text: string | undefined, space: boolean): void {
  if (!isMap(node)) return
  const named: Node = node
  if (text !== undefined) named.commentBefore = spaced(text)
  named.spaceBefore = space
}

export function ruleYaml(groups: readonly RuleGroup[], head: string): string {
  const document = new Document(ruleData(groups))
  document.commentBefore = spaced(head)
  const list = document.get('groups')
  groups.forEach((group, at) => {
    const node = isSeq(list) ? list.items[at] : undefined
    comment(node, group.comment, at > 0)
    const rules = isMap(node) ? node.get('rules') : undefined
    group.rules.forEach((rule, n) => comment(isSeq(rules) ? rules.items[n] : undefined, rule.comment, n > 0))
  })
  return document.toString({ lineWidth: 0, singleQuote: true })
}
