// Writes the YAML under deploy/kubernetes from the typed objects beside it: `node scripts/kubernetes.ts`. A test fails when a committed file is not this one.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Model, TypeMeta } from '@kubernetes-models/base'
import { Document, isNode, isPair, parse } from 'yaml'
import * as z from 'zod/mini'
import type { Reason } from '../deploy/kubernetes/daemon-set.ts'
import { folders, type Dashboards, type Folder } from '../deploy/kubernetes/folders.ts'
import type { RuleGroups } from '../deploy/kubernetes/monitoring.ts'

const root = join(import.meta.dirname, '..')
export const FOLDER = join(root, 'deploy/kubernetes')
const GENERATED = 'Made by `node scripts/kubernetes.ts` from the objects in deploy/kubernetes/*.ts; do not edit.'

const ruleFile = z.object({ groups: z.array(z.custom<RuleGroups[number]>((group) => typeof group === 'object' && group !== null)) })

/** What is inside is validated with the object that it becomes. */
export const committedRules = (): RuleGroups => ruleFile.parse(parse(readFileSync(join(root, 'alerts/prometheus/warpwatch.rules.yml'), 'utf8'))).groups

const dashboards = join(root, 'grafana/dashboards')
export const committedDashboards = (): Dashboards =>
  new Map(
    readdirSync(dashboards)
      .toSorted()
      .map((name) => [basename(name, '.json'), JSON.parse(readFileSync(join(dashboards, name), 'utf8')) as unknown]),
  )

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
  if (!isNode(found)) throw new Error(`expected something to comment at ${at.join('.')}, came none`)
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
    [`${path}/kustomization.yaml`, yamlOf(kustomization, about)],
    ...objects.map(({ file, object, about: what, reasons }) => [`${path}/${file}.yaml`, validYaml(object, what, reasons)] as const),
    ...(patch === undefined ? [] : [[`${path}/patch.yaml`, yamlOf(patch, about)] as const]),
  ]
}

/** Every made file below deploy/kubernetes, by its path there. */
export const kubernetesFiles = (): ReadonlyMap<string, string> => new Map(folders(committedRules(), committedDashboards()).flatMap(filesOf))

if (import.meta.main)
  for (const [path, text] of kubernetesFiles()) {
    mkdirSync(dirname(join(FOLDER, path)), { recursive: true })
    writeFileSync(join(FOLDER, path), text)
  }
