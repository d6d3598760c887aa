// Makes the YAML below deploy/kubernetes from the typed objects in deploy/kubernetes/*.ts, with the rules for Prometheus and Grafana's dashboards.
import { join } from 'node:path'
import type { Model, TypeMeta } from '@kubernetes-models/base'
import { Document, isNode, isPair, parse } from 'yaml'
import * as z from 'zod/mini'
import { defaultRules } from '../../agent/cli/rules.ts'
import type { Reason } from '../../deploy/kubernetes/daemon-set.ts'
import { folders, type Dashboards, type Folder } from '../../deploy/kubernetes/folders.ts'
import type { RuleGroups } from '../../deploy/kubernetes/monitoring.ts'
import * as boards from '../../grafana/index.ts'
import { dashboardOf } from '../../grafana/parts/board.ts'
import { ROOT, type Files, type Generator } from './generator.ts'

const BELOW = 'deploy/kubernetes'
export const FOLDER = join(ROOT, BELOW)
const GENERATED = 'Generated from the objects in deploy/kubernetes/*.ts by `npm run generate`; do not edit.'

const ruleFile = z.object({ groups: z.array(z.custom<RuleGroups[number]>((group) => typeof group === 'object' && group !== null)) })

/** What is inside is validated with the object that it becomes. */
export const ruleGroups = (): RuleGroups => ruleFile.parse(parse(defaultRules())).groups

/** By name; through JSON, since what is undefined is not there. */
const dashboards = (): Dashboards =>
  new Map(
    Object.values(boards)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map((board) => [board.name, JSON.parse(JSON.stringify(dashboardOf(board))) as unknown]),
  )

/** Every folder with its objects. */
export const kubernetesFolders = (): readonly Folder[] => folders(ruleGroups(), dashboards())

/** The reason goes before the key, or before the item of a list. */
function comment(document: Document, { at, why }: Reason): void {
  const key = at.at(-1)
  const parent = document.getIn(at.slice(0, -1), true)
  const found =
    typeof key === 'number'
      ? document.getIn(at, true)
      : typeof parent === 'object' && parent !== null && 'items' in parent && Array.isArray(parent.items)
        ? parent.items.filter(isPair).find((pair) => isNode(pair.key) && String(pair.key) === key)?.key
        : undefined
  if (!isNode(found)) throw new Error(`nothing to comment at ${at.join('.')}: the object has no such key`)
  found.commentBefore = ` ${why}`
}

function yamlOf(content: unknown, about: string, reasons: readonly Reason[] = []): string {
  // Through JSON: models are classes, and what is undefined is not there.
  const document = new Document(JSON.parse(JSON.stringify(content)), { aliasDuplicateObjects: false })
  document.commentBefore = ` ${about}\n ${GENERATED}`
  for (const reason of reasons) comment(document, reason)
  return document.toString({ lineWidth: 0, singleQuote: true })
}

/** Throws where the API's schema does. */
function validYaml(object: Model<TypeMeta>, about: string, reasons: readonly Reason[] | undefined): string {
  object.validate()
  return yamlOf(object, about, reasons)
}

function filesOf({ path, about, kind, on = [], objects = [], patch, more = {} }: Folder): readonly (readonly [path: string, text: string])[] {
  const resources = [...on, ...objects.map(({ file }) => `${file}.yaml`)]
  const kustomization = {
    apiVersion: kind === undefined ? 'kustomize.config.k8s.io/v1beta1' : 'kustomize.config.k8s.io/v1alpha1',
    kind: kind ?? 'Kustomization',
    ...(resources.length === 0 ? {} : { resources }),
    ...(patch === undefined ? {} : { patches: [{ path: 'patch.yaml' }] }),
    ...more,
  }
  return [
    [`${BELOW}/${path}/kustomization.yaml`, yamlOf(kustomization, about)],
    ...objects.map(({ file, object, about: what, reasons }) => [`${BELOW}/${path}/${file}.yaml`, validYaml(object, what, reasons)] as const),
    ...(patch === undefined ? [] : [[`${BELOW}/${path}/patch.yaml`, yamlOf(patch, about)] as const]),
  ]
}

const files = (): Files => new Map(kubernetesFolders().flatMap(filesOf))

/** The agent's configuration in the base is written by hand. */
export const kubernetes: Generator = { files, owns: { folder: BELOW, ending: '.yaml', but: [`${BELOW}/base/warpwatch.yaml`] } }
