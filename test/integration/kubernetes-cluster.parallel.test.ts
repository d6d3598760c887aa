// What `kubectl apply -k` would send, and what Prometheus makes of the PodMonitor: kustomize and Prometheus are real, a cluster is not at hand.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PriorityClass } from 'kubernetes-models/scheduling.k8s.io/v1'
import { DaemonSet } from 'kubernetes-models/apps/v1'
import { ConfigMap, Namespace, Secret, Service, ServiceAccount } from 'kubernetes-models/v1'
import { PodMonitor, PrometheusRule, ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
import { afterAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import * as z from 'zod'
import { NAMESPACE, TOKEN_SECRET } from '../../deploy/kubernetes/names.ts'
import { podMonitor } from '../../deploy/kubernetes/monitoring.ts'
import { FOLDER } from '../../scripts/generators/kubernetes.ts'
import { startAgent } from '../setup/agent.ts'
import { programPath } from '../setup/engine-client.ts'
import { monitoringMissing, queryUp, startPrometheus } from '../setup/monitoring.ts'
import { poll } from '../setup/poll.ts'

const KUBECTL = programPath('kubectl')
const root = join(import.meta.dirname, '../..')
const MODELS = { Namespace, ServiceAccount, ConfigMap, Secret, Service, DaemonSet, PriorityClass, NetworkPolicy, PodMonitor, PrometheusRule, ServiceMonitor }
const CLUSTER_WIDE = ['Namespace', 'PriorityClass']
const isKnown = (kind: string): kind is keyof typeof MODELS => kind in MODELS

const head = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string(), namespace: z.optional(z.string()) }) })
/** The objects of a folder as kustomize puts them together. */
function build(folder: string) {
  if (KUBECTL === undefined) throw new Error('expected kubectl, found none')
  const documents = parseAllDocuments(execFileSync(KUBECTL, ['kustomize', folder], { encoding: 'utf8' })).map((document) => head.parse(document.toJS()))
  const models = documents.map((document) => {
    if (!isKnown(document.kind)) throw new Error(`${folder}: expected a kind that is known here, came ${document.kind}`)
    const model = Object.assign(new MODELS[document.kind](), document)
    model.validate()
    return model
  })
  const homeless = documents.filter(({ kind, metadata }) => metadata.namespace !== (CLUSTER_WIDE.includes(kind) ? undefined : NAMESPACE))
  expect(homeless).toEqual([])
  const named = (kind: string) => documents.filter((document) => document.kind === kind)
  const [daemonSet, ...others] = models.filter((model) => model instanceof DaemonSet)
  expect(others).toEqual([])
  const pod = daemonSet?.spec?.template.spec
  // The API server's own rule, which no schema tells.
  const { privileged, allowPrivilegeEscalation, capabilities } = pod?.containers[0]?.securityContext ?? {}
  expect(privileged === true && (allowPrivilegeEscalation === false || capabilities !== undefined)).toBe(false)
  expect(named('ConfigMap').map(({ metadata }) => metadata.name)).toContain(pod?.volumes?.find(({ name }) => name === 'config')?.configMap?.name)
  return { kinds: documents.map(({ kind }) => kind).toSorted(), named, pod, container: pod?.containers[0] }
}

const BASE = ['ConfigMap', 'DaemonSet', 'Namespace', 'NetworkPolicy', 'PriorityClass', 'Service', 'ServiceAccount']

describe.skipIf(KUBECTL === undefined)('kubectl kustomize (needs kubectl)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-kustomize-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('the base asks for no more than it says, and brings no token', () => {
    const { kinds, container, pod } = build(join(FOLDER, 'base'))
    expect(kinds).toEqual(BASE)
    expect(container?.securityContext).toMatchObject({ privileged: false, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } })
    expect([pod?.hostNetwork, pod?.hostIPC, pod?.runtimeClassName]).toEqual([undefined, undefined, undefined])
  })

  test('with prometheus-operator', () => {
    expect(build(join(FOLDER, 'overlays/prometheus-operator')).kinds).toEqual([...BASE, 'PodMonitor', 'PrometheusRule'].toSorted())
  })

  test('with a ServiceMonitor in place of the PodMonitor: both would scrape twice', () => {
    expect(build(join(FOLDER, 'overlays/service-monitor')).kinds).toEqual([...BASE, 'PrometheusRule', 'ServiceMonitor'].toSorted())
  })

  test('on every node, whatever its taints', () => {
    mkdirSync(join(folder, 'every'))
    const at = (path: string): string => relative(join(realpathSync(folder), 'every'), join(FOLDER, path))
    writeFileSync(join(folder, 'every/kustomization.yaml'), `resources: [${at('base')}]\ncomponents: [${at('components/every-node')}]\n`)
    expect(build(join(folder, 'every')).pod?.tolerations).toEqual([{ operator: 'Exists' }])
  })

  test('simulated, with its token', () => {
    const { kinds, named, container } = build(join(FOLDER, 'overlays/simulate'))
    expect(kinds).toEqual([...BASE, 'Secret'].toSorted())
    expect(named('Secret')[0]?.metadata.name).toBe(TOKEN_SECRET.name)
    expect(container?.env).toContainEqual({ name: 'WARPWATCH_SIMULATE__SCENARIO', value: 'healthy' })
    expect(container?.env?.some(({ name }) => name === 'WARPWATCH_HTTP__TOKEN')).toBe(true)
  })

  test('as docs/kubernetes.md says, with all components and a configuration of its own', () => {
    const paper = readFileSync(join(root, 'docs/kubernetes.md'), 'utf8')
    const blocks = Array.from(paper.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```$/gm), ([, indent = '', text = '']) =>
      text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    )
    const example = blocks.find((text) => text.includes('kind: Kustomization'))
    const replaced = blocks.find((text) => text.startsWith('configMapGenerator'))
    expect([example, replaced]).not.toContain(undefined)
    symlinkSync(root, join(folder, 'warpwatch'))
    mkdirSync(join(folder, 'my-cluster'))
    writeFileSync(join(folder, 'my-cluster/kustomization.yaml'), `${example}${replaced}`)
    writeFileSync(join(folder, 'my-cluster/warpwatch.yaml'), 'log: {level: warn}\n')
    const { pod, container, named } = build(join(folder, 'my-cluster'))
    expect(pod?.nodeSelector).toMatchObject({ 'nvidia.com/gpu.present': 'true', 'kubernetes.io/os': 'linux' })
    expect(pod?.runtimeClassName).toBe('nvidia')
    expect(container?.securityContext).toMatchObject({ privileged: true, allowPrivilegeEscalation: true })
    expect(container?.env).toContainEqual({ name: 'WARPWATCH_LOGS__KERNEL', value: 'true' })
    expect(container?.image).toMatch(/^registry\.example\.org\/warpwatch:/)
    const isDashboard = ({ metadata }: { readonly metadata: { readonly name: string } }): boolean => metadata.name.includes('-dashboard-')
    const dashboards = named('ConfigMap').filter(isDashboard)
    expect(named('ConfigMap').find((one) => !isDashboard(one))).toMatchObject({ data: { 'warpwatch.yaml': 'log: {level: warn}\n' } })
    expect(dashboards.length).toBeGreaterThan(5)
    for (const { metadata } of dashboards) expect(metadata['labels']).toMatchObject({ grafana_dashboard: '1' })
    expect(named('PodMonitor')).toMatchObject([{ metadata: { labels: { release: 'kube-prometheus-stack' } } }])
  })
})

const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

describe.skipIf(monitoringMissing !== undefined)(
  `a Prometheus with the PodMonitor's relabelling${monitoringMissing === undefined ? '' : ` (${monitoringMissing})`}`,
  () => {
    test('pod and container are those of whoever uses the GPU, the instance is the node, and the token opens', async () => {
      const [endpoint] = podMonitor.spec.podMetricsEndpoints ?? []
      const own = (endpoint?.relabelings ?? []).map((rule) => Object.fromEntries(Object.entries(rule).map(([key, value]) => [snake(key), value])))
      // What prometheus-operator writes before them (pkg/prometheus/promcfg.go), as far as it sets labels.
      const operators = ['namespace', 'pod', 'container'].map((label) => ({ source_labels: [`__meta_own_${label}`], target_label: label, action: 'replace' }))
      const labels = {
        __meta_own_namespace: NAMESPACE,
        __meta_own_pod: 'warpwatch-x7k2p',
        __meta_own_container: 'warpwatch',
        __meta_kubernetes_pod_node_name: 'node-1',
      }
      const agent = await startAgent({ args: ['--simulate'], ready: true, env: { WARPWATCH_HTTP__TOKEN: 'simulated' } })
      try {
        await using prometheus = await startPrometheus({
          global: { scrape_interval: '500ms', scrape_timeout: '500ms' },
          scrape_configs: [
            {
              job_name: 'warpwatch',
              honor_labels: endpoint?.honorLabels,
              metrics_path: endpoint?.path,
              authorization: { credentials: 'simulated' },
              static_configs: [{ targets: [agent.listen], labels }],
              relabel_configs: [...operators, { target_label: 'endpoint', replacement: 'http', action: 'replace' }, ...own],
            },
          ],
        })
        const query = async (text: string) => (await queryUp(prometheus.url, text)).map(({ metric }) => metric)
        await poll(async () => (await query('warpwatch_container_gpu_memory_bytes')).length > 0, { what: prometheus.said, deadlineMs: 30_000 })
        const ofContainers = await query('warpwatch_container_gpu_memory_bytes')
        expect(ofContainers.filter(({ container }) => container === undefined || container === 'warpwatch')).toEqual([])
        const ofGpus = await query('warpwatch_gpu_memory_used_bytes')
        expect(ofGpus.length).toBe(8)
        expect(ofGpus.map(({ instance, job, pod, container, namespace, endpoint }) => [instance, job, pod, container, namespace, endpoint])).toEqual(
          ofGpus.map(() => ['node-1', 'warpwatch', undefined, undefined, undefined, undefined]),
        )
        expect(await query('{__name__=~".+",exported_container!=""} or {__name__=~".+",exported_pod!=""}')).toEqual([])
      } finally {
        await agent.stop()
      }
    })
  },
)
