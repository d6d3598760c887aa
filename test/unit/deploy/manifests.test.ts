// The Kubernetes manifests: valid by the API's schemas, and consistent where a schema cannot tell.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Model, TypeMeta } from '@kubernetes-models/base'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { loadConfig } from '../../../agent/config/load.ts'
import { networkPolicy, priorityClass, service, serviceAccount } from '../../../deploy/kubernetes/around.ts'
import { daemonSet } from '../../../deploy/kubernetes/daemon-set.ts'
import { podMonitor, prometheusRule, serviceMonitor } from '../../../deploy/kubernetes/monitoring.ts'
import { FOLDER, kubernetesFolders, ruleGroups } from '../../../scripts/generators/kubernetes.ts'

const all = kubernetesFolders()
const objects = all.flatMap(({ path, objects = [] }) => objects.map(({ file, object }) => ({ what: `${path}/${file}`, object })))
const pod = daemonSet.spec?.template.spec
const container = pod?.containers[0]

const configMap = z.object({
  metadata: z.object({ labels: z.record(z.string(), z.string()) }),
  data: z.record(z.string(), z.string()),
})

type Path = readonly (string | number)[]
/** Maps whose keys are the author's: any text is as good as another there, and a schema still wants text. */
function leaves(value: unknown, at: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [at]
  const entries = Array.isArray(value) ? value.map((item, index) => [index, item] as const) : Object.entries(value)
  return entries.flatMap(([key, item]) => leaves(item, [...at, key]))
}
const WRONG: Readonly<Record<string, unknown>> = { string: true, number: 'many', boolean: 'yes' }
/** The same object with one value of another type. */
function mutated(object: Model<TypeMeta>, path: Path): Model<TypeMeta> {
  const copy: Model<TypeMeta> = Object.assign(Object.create(Object.getPrototypeOf(object)), JSON.parse(JSON.stringify(object)))
  const change = (value: unknown, [key, ...rest]: Path): unknown => {
    if (key === undefined) return WRONG[typeof value]
    if (Array.isArray(value)) return value.map((item, index) => (index === key ? change(item, rest) : item))
    return Object.fromEntries(Object.entries(value ?? {}).map(([name, item]) => [name, name === key ? change(item, rest) : item]))
  }
  const [first, ...rest] = path
  return Object.assign(copy, Object.fromEntries(Object.entries(copy).flatMap(([name, item]) => (name === first ? [[name, change(item, rest)]] : []))))
}
const isValid = (object: Model<TypeMeta>): boolean => {
  try {
    object.validate()
    return true
  } catch {
    return false
  }
}

describe.each(objects)('$what', ({ object }) => {
  test('is valid', () => expect(() => object.validate()).not.toThrow())
  test('is not with any one value of another type', () => {
    const paths = leaves(JSON.parse(JSON.stringify(object)))
    // A rule file has thousands of texts of one kind.
    const some = paths.filter((_, index) => index % Math.ceil(paths.length / 150) === 0)
    expect(some.length).toBeGreaterThan(4)
    expect(some.filter((path) => isValid(mutated(object, path)))).toEqual([])
  })
})

describe('what a schema cannot tell', () => {
  test('selectors find the pods', () => {
    const labels = daemonSet.spec?.template.metadata?.labels ?? {}
    const selectors = [
      daemonSet.spec?.selector.matchLabels,
      service.spec?.selector,
      networkPolicy.spec?.podSelector?.matchLabels,
      podMonitor.spec.selector.matchLabels,
    ]
    expect(service.metadata?.labels).toMatchObject(serviceMonitor.spec.selector.matchLabels ?? {})
    expect(Object.keys(serviceMonitor.spec.selector.matchLabels ?? {})).not.toEqual([])
    for (const selector of selectors) {
      expect(Object.keys(selector ?? {}).length).toBeGreaterThan(0)
      expect(labels).toMatchObject(selector ?? {})
    }
  })

  test('names lead to what they name', () => {
    expect(pod?.volumes?.map(({ name }) => name)).toEqual(container?.volumeMounts?.map(({ name }) => name))
    expect([pod?.serviceAccountName, pod?.priorityClassName]).toEqual([serviceAccount.metadata?.name, priorityClass.metadata?.name])
    const ports = new Set(container?.ports?.map(({ name }) => name))
    const used = [
      container?.livenessProbe?.httpGet?.port,
      container?.readinessProbe?.httpGet?.port,
      service.spec?.ports?.[0]?.targetPort,
      podMonitor.spec.podMetricsEndpoints?.[0]?.port,
      networkPolicy.spec?.ingress?.[0]?.ports?.[0]?.port,
    ]
    expect(used.filter((port) => !ports.has(String(port)))).toEqual([])
    const token = container?.env?.find(({ name }) => name === 'WARPWATCH_HTTP__TOKEN')?.valueFrom?.secretKeyRef
    expect(podMonitor.spec.podMetricsEndpoints?.[0]?.authorization?.credentials).toEqual(token)
    expect(serviceMonitor.spec.endpoints[0]?.authorization?.credentials).toEqual(token)
    // Of the Service, which a ServiceMonitor names its port by.
    expect(serviceMonitor.spec.endpoints.map(({ port }) => port)).toEqual(service.spec?.ports?.map(({ name }) => name))
  })

  test('no GPU is taken from the scheduler, and no right is there without a reason', () => {
    expect(Object.keys({ ...container?.resources?.limits, ...container?.resources?.requests }).toSorted()).toEqual(['cpu', 'memory'])
    expect(container?.resources?.limits?.['cpu']).toBeUndefined()
    const yaml = readFileSync(join(FOLDER, 'base/daemon-set.yaml'), 'utf8').split('\n')
    const rights = ['hostPID: true', 'runAsUser: 0', 'appArmorProfile:', ...(container?.securityContext?.capabilities?.add ?? []).map((name) => `- ${name}`)]
    expect(rights.length).toBeGreaterThan(3)
    const silent = [...rights, ...(container?.volumeMounts ?? []).map(({ name, mountPath }) => `- name: ${name}\n${mountPath}`)].filter((right) => {
      const [line = '', next] = right.split('\n')
      return !yaml.some(
        (text, at) => text.trim() === line && (next === undefined || yaml[at + 1]?.trim() === `mountPath: ${next}`) && /^ *# \S/.test(yaml[at - 1] ?? ''),
      )
    })
    expect(silent).toEqual([])
  })

  test('the configuration is one that the agent takes, and its paths are mounted', async () => {
    const variables = [...(container?.env ?? []), ...all.flatMap(({ patch }) => patch?.spec?.template?.spec?.containers?.flatMap(({ env }) => env ?? []) ?? [])]
    const env = Object.fromEntries(variables.map(({ name, value }) => [name, typeof value === 'string' ? value : 'given']))
    const { config } = await loadConfig({ file: join(FOLDER, 'base/warpwatch.yaml'), env: { ...env, WARPWATCH_SIMULATE__SCENARIO: 'off' }, cwd: '/' })
    expect(Object.keys(env).filter((name) => name.startsWith('WARPWATCH_')).length).toBe(4)
    const paths = container?.volumeMounts?.map(({ mountPath }) => mountPath) ?? []
    expect(paths).toEqual(expect.arrayContaining([config.host.proc_root, config.containers.cgroup_root, '/var/lib/warpwatch', '/run/warpwatch']))
    expect(config.logs.container_files.map((file) => paths.find((path) => file.startsWith(`${path}/`)))).not.toContain(undefined)
    expect(config.http.listen).toBe(`0.0.0.0:${container?.ports?.[0]?.containerPort}`)
    await expect(loadConfig({ file: join(FOLDER, 'base/warpwatch.yaml'), env: {}, cwd: '/' }), 'without the token').rejects.toThrow('http.token')
  })

  test('dashboards are those of grafana/, and fit where kubectl apply keeps its copy', () => {
    const found = all.find(({ path }) => path === 'components/dashboards')?.objects ?? []
    const written = readdirSync(join(FOLDER, '../../grafana/dashboards'))
    expect(found.map(({ file }) => `${file}.json`)).toEqual(written.toSorted())
    expect(found.length).toBeGreaterThan(5)
    for (const { file, object } of found) {
      const { metadata, data } = configMap.parse(JSON.parse(JSON.stringify(object)))
      expect(metadata.labels['grafana_dashboard']).toBe('1')
      const [[name, text] = ['', ''], ...others] = Object.entries(data)
      expect([name, others]).toEqual([`warpwatch-${file}.json`, []])
      expect(JSON.parse(text)).toEqual(JSON.parse(readFileSync(join(FOLDER, `../../grafana/dashboards/${file}.json`), 'utf8')))
      // The annotation last-applied-configuration holds the whole object as JSON; all annotations together have 256 KiB.
      expect(Buffer.byteLength(JSON.stringify(object))).toBeLessThan(256 * 1_024)
    }
  })

  test('usual taints of GPU nodes are tolerated, those of the control plane by a component alone', () => {
    const tolerated = pod?.tolerations ?? []
    expect(tolerated.map(({ key, value }) => `${key}=${value ?? '*'}`)).toEqual(['nvidia.com/gpu=*', 'sku=gpu', 'kubernetes.azure.com/scalesetpriority=spot'])
    expect(tolerated.some(({ effect }) => effect !== undefined)).toBe(false)
    expect(all.find(({ path }) => path === 'components/every-node')?.patch?.spec?.template?.spec?.tolerations).toEqual([{ operator: 'Exists' }])
  })

  test('alerts of nodes carry no link to a port that is not there, and lose nothing else', () => {
    const rules = ruleGroups().flatMap((group) => group.rules ?? [])
    const made = (prometheusRule(ruleGroups()).spec.groups ?? []).flatMap((group) => group.rules ?? [])
    expect(JSON.stringify(made)).not.toContain('http://{{ $labels.instance }}')
    expect(JSON.stringify(rules)).toContain('http://{{ $labels.instance }}')
    expect(made.map(({ alert, record, expr, labels }) => ({ alert, record, expr, labels }))).toEqual(
      rules.map(({ alert, record, expr, labels }) => ({ alert, record, expr, labels })),
    )
    expect(made.filter(({ alert, annotations }) => alert !== undefined && annotations?.['summary'] === undefined)).toEqual([])
  })
})
