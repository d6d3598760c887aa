// The DCGM_* series say who holds a GPU as dcgm-exporter does: pods and jobs, one or several, given or used; and they do not flap.
import { describe, expect, test } from 'vitest'
import { createExposition, type ExpositionOptions } from '../../../agent/http/exposition.ts'
import { containerGpuAssigned } from '../../../agent/metrics/container.ts'
import { defineMetric } from '../../../agent/model/metric.ts'
import type { Gap, Reading } from '../../../agent/model/reading.ts'
import { makeSeries, type Labels } from '../../../agent/model/series.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'
import { GPU0, GPU1, gpuInfo, memoryUsed, migInfo, scrape, T, temperature } from './fixture.ts'
import { parseExposition } from './parse-exposition.ts'

const CONTAINER = ['container', 'container_id', 'namespace', 'pod']
const processMemory = defineMetric({
  name: 'warpwatch_process_gpu_memory_bytes',
  subject: 'process',
  field: 'gpu_memory_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'x',
  labels: ['gpu', 'uuid', 'gi', 'pid', ...CONTAINER, 'slurm_job'],
})
const requested = defineMetric({
  name: 'warpwatch_container_gpu_requested',
  subject: 'container',
  field: 'gpu_requested',
  by: 'uuid',
  kind: 'gauge',
  unit: '1',
  help: 'x',
  labels: [...CONTAINER, 'gpu', 'uuid', 'by'],
})

const TRAINER: Labels = { pod: 'train-0', namespace: 'ml', container: 'trainer' }
const SERVER: Labels = { pod: 'serve-0', namespace: 'web', container: 'server' }
const holds = (gpu: Labels, who: Labels, pid = '1'): Reading => ({ series: makeSeries(processMemory, { ...gpu, pid, ...who }), value: 1 })
const given = (gpu: Labels, who: Labels, by = 'device_nodes'): Reading => ({ series: makeSeries(requested, { ...who, ...gpu, by }), value: 1 })
const assigned = (gpu: Labels, { pod = '', namespace = '', container = '' }: Labels): Reading => ({
  series: makeSeries(containerGpuAssigned, { ...gpu, pod, namespace, container, resource: 'nvidia.com/gpu' }),
  value: 1,
})

function host(options: Partial<ExpositionOptions> = {}) {
  const store = createLatestStore()
  let [t, clock] = [T, 0]
  const exposition = createExposition({ latest: store, dcgm: 'classic', hostnameLabel: 'Hostname', hostname: 'h', now: () => clock, ...options })
  const gpus = [GPU0, GPU1].flatMap((gpu) => [
    { series: makeSeries(gpuInfo, { ...gpu, name: 'H100', driver_version: '1' }), value: 1 },
    { series: makeSeries(memoryUsed, gpu), value: 2 ** 30 },
    { series: makeSeries(temperature, gpu), value: 50 },
  ])
  /** The page after these readings; `seconds` pass before. */
  const page = (readings: readonly Reading[], gaps: readonly Gap[] = [], seconds = 1) => {
    t += seconds * 1000
    clock += seconds * 1000
    store.apply(scrape('gpu', 'g', t, [...gpus, ...readings], gaps))
    exposition.invalidate()
    return parseExposition(exposition.page('text').body.toString(), 'text')
  }
  /** Who the series of a GPU's temperature name, in the order of the page. */
  const holders = (readings: readonly Reading[], gaps: readonly Gap[] = [], seconds = 1, gpu: Labels = GPU0): readonly string[] => {
    const samples = page(readings, gaps, seconds).get('DCGM_FI_DEV_GPU_TEMP')?.samples ?? []
    return samples
      .filter(({ labels }) => labels['UUID'] === gpu['uuid'])
      .map(({ labels: { namespace = '', pod = '', container = '', hpc_job = '' } }) => [namespace, pod, container, hpc_job].join('/'))
  }
  return { page, holders }
}
const NOBODY = ['///']

describe('a GPU', () => {
  test('that nobody holds has none of these labels', () => expect(host().holders([])).toEqual(NOBODY))
  test('that one pod has memory on carries it, and no other GPU does', () => {
    const { holders } = host()
    expect(holders([holds(GPU0, TRAINER)])).toEqual(['ml/train-0/trainer/'])
    expect(holders([holds(GPU0, TRAINER)], [], 1, GPU1)).toEqual(NOBODY)
  })
  test('has the labels in the order of dcgm-exporter, after the driver', () => {
    const found = host().page([holds(GPU0, { ...TRAINER, slurm_job: '7' })])
    expect(Object.keys(found.get('DCGM_FI_DEV_FB_USED')?.samples[0]?.labels ?? {}).slice(-5)).toEqual([
      'DCGM_FI_DRIVER_VERSION',
      'container',
      'hpc_job',
      'namespace',
      'pod',
    ])
  })
  test('of a plain container or process has none: dcgm-exporter knows the kubelet and job files only', () => {
    expect(host().holders([holds(GPU0, { container: 'trainer', container_id: '0123456789ab' })])).toEqual(NOBODY)
  })
  test('whose process has memory that the driver does not report is held all the same', () => {
    const gap: Gap = { metric: processMemory.name, labels: { ...GPU0, pid: '1', ...TRAINER }, reason: 'not_supported' }
    expect(host().holders([], [gap])).toEqual(['ml/train-0/trainer/'])
  })
  test('carries a series for each Slurm job on it', () => {
    expect(host().holders([holds(GPU0, { slurm_job: '12' }), holds(GPU0, { slurm_job: '11' }, '2')])).toEqual(['///11', '///12'])
  })
  test('says nothing with the option off', () => expect(host({ holders: 'off' }).holders([holds(GPU0, TRAINER), given(GPU0, TRAINER)])).toEqual(NOBODY))
})

describe('several pods on a GPU', () => {
  const both = [holds(GPU0, TRAINER), holds(GPU0, SERVER, '2')]
  test('auto: one of them, the same one as long as it is there, whatever the order', () => {
    const { holders } = host()
    expect(holders([both[1] ?? []].flat())).toEqual(['web/serve-0/server/'])
    expect(holders(both)).toEqual(['web/serve-0/server/'])
    expect(holders(both.toReversed())).toEqual(['web/serve-0/server/'])
    expect(holders([both[0] ?? []].flat())).toEqual(['ml/train-0/trainer/'])
  })
  test('shared: a series for each', () => {
    expect(host({ holders: 'shared' }).holders(both)).toEqual(['ml/train-0/trainer/', 'web/serve-0/server/'])
  })
  test('shared: never more than 32', () => {
    const many = Array.from({ length: 100 }, (_, i) => holds(GPU0, { ...TRAINER, pod: `p-${i}` }, String(i)))
    expect(host({ holders: 'shared' }).holders(many).length).toBe(32)
  })
})

describe('a pod that was given a GPU', () => {
  test('holds it though it is idle, where it was given some of the GPUs', () => expect(host().holders([given(GPU0, TRAINER)])).toEqual(['ml/train-0/trainer/']))
  test('and every GPU of the host holds them all once it has memory on one', () => {
    const { holders } = host()
    const all = [given(GPU0, TRAINER), given(GPU1, TRAINER)]
    expect(holders(all)).toEqual(NOBODY)
    expect(holders([...all, holds(GPU1, TRAINER)])).toEqual(['ml/train-0/trainer/'])
  })
  test('and is privileged holds nothing by that', () => expect(host().holders([given(GPU0, TRAINER, 'privileged')])).toEqual(NOBODY))
  test('comes after one that has memory there', () => {
    expect(host().holders([given(GPU0, TRAINER), holds(GPU0, SERVER)])).toEqual(['web/serve-0/server/'])
  })
})

describe('a pod that the kubelet gave a GPU', () => {
  test('holds it before it has memory, every GPU of the host too', () => {
    const { holders } = host()
    const all = [assigned(GPU0, TRAINER), assigned(GPU1, TRAINER)]
    expect(holders(all)).toEqual(['ml/train-0/trainer/'])
    expect(holders(all, [], 1, GPU1)).toEqual(['ml/train-0/trainer/'])
  })
  test('is one holder, however it is known', () => {
    const known = [assigned(GPU0, TRAINER), given(GPU0, TRAINER), holds(GPU0, TRAINER)]
    expect(host({ holders: 'shared' }).holders(known)).toEqual(['ml/train-0/trainer/'])
  })
  test('comes after one that has memory there; shared: both', () => {
    const known = [assigned(GPU0, SERVER), assigned(GPU0, TRAINER), holds(GPU0, TRAINER)]
    expect(host().holders([assigned(GPU0, TRAINER), holds(GPU0, SERVER), assigned(GPU0, SERVER)])).toEqual(['web/serve-0/server/'])
    expect(host({ holders: 'shared' }).holders(known)).toEqual(['ml/train-0/trainer/', 'web/serve-0/server/'])
  })
})

describe('a holder that is gone', () => {
  test('is still named for half a minute, then no longer', () => {
    const { holders } = host()
    expect(holders([holds(GPU0, { slurm_job: '12' })])).toEqual(['///12'])
    expect(holders([])).toEqual(['///12'])
    expect(holders([], [], 28)).toEqual(['///12'])
    expect(holders([], [], 2)).toEqual(NOBODY)
  })
  test('makes room at once for the next', () => {
    const { holders } = host()
    holders([holds(GPU0, { slurm_job: '12' })])
    expect(holders([holds(GPU0, { slurm_job: '13' })])).toEqual(['///13'])
  })
})

describe('a job mapping as for dcgm-exporter', () => {
  test('names the jobs by GPU index, in place of the processes', () => {
    let jobs: ReadonlyMap<string, readonly string[]> = new Map([['0', ['5', '6']]])
    const { holders } = host({ jobs: () => jobs })
    expect(holders([holds(GPU0, { slurm_job: '12' })])).toEqual(['///5', '///6'])
    expect(holders([holds(GPU1, { slurm_job: '12' })], [], 1, GPU1)).toEqual(NOBODY)
    jobs = new Map()
    expect(holders([])).toEqual(NOBODY)
  })
})

describe('a card that is cut into MIG instances', () => {
  const instance = (gi: string, bytes: number): readonly Reading[] => [
    { series: makeSeries(migInfo, { ...GPU0, gi, ci: '0', mig_uuid: `MIG-${gi}`, name: 'H100 MIG 1g.10gb' }), value: 1 },
    { series: makeSeries(memoryUsed, { ...GPU0, gi, ci: '0' }), value: bytes },
  ]
  const cut = [...instance('7', 2 ** 28), ...instance('11', 2 ** 29)]
  const of = (name: string, readings: readonly Reading[], options: Partial<ExpositionOptions> = {}): readonly string[] =>
    (host(options).page(readings).get(name)?.samples ?? [])
      .filter(({ labels }) => labels['UUID'] === GPU0['uuid'])
      .map(({ labels, value }) => `${labels['GPU_I_ID'] ?? ''} ${labels['GPU_I_PROFILE'] ?? ''} ${labels['pod'] ?? ''} ${value}`)

  test('has memory on its instances alone, under every name', () => {
    expect(of('DCGM_FI_DEV_FB_USED', cut)).toEqual(['7 1g.10gb  256', '11 1g.10gb  512'])
    expect(of('DCGM_FI_DEV_FB_USED_BYTES', cut, { dcgm: '4.9' })).toEqual(['7 1g.10gb  268435456', '11 1g.10gb  536870912'])
    expect(of('DCGM_FI_DEV_FB_USED', cut, { dcgm: 'both' })).toEqual(['7 1g.10gb  256', '11 1g.10gb  512'])
  })
  test("has the card's own figures on each instance, none without", () => {
    expect(of('DCGM_FI_DEV_GPU_TEMP', cut)).toEqual(['7 1g.10gb  50', '11 1g.10gb  50'])
    expect(of('DCGM_FI_DEV_XID_ERRORS', cut)).toEqual(['7 1g.10gb  0', '11 1g.10gb  0'])
    expect(of('DCGM_FI_DEV_COUNT', cut)).toEqual(['7 1g.10gb  2', '11 1g.10gb  2'])
  })
  test('names the pod of each instance; a device node of the card says nothing about one', () => {
    const readings = [...cut, holds({ ...GPU0, gi: '11' }, TRAINER), given(GPU0, SERVER)]
    expect(of('DCGM_FI_DEV_GPU_TEMP', readings)).toEqual(['7 1g.10gb  50', '11 1g.10gb train-0 50'])
  })
  test('names the pod that the kubelet gave an instance, before it has memory', () => {
    expect(of('DCGM_FI_DEV_GPU_TEMP', [...cut, assigned({ ...GPU0, gi: '7' }, TRAINER)])).toEqual(['7 1g.10gb train-0 50', '11 1g.10gb  50'])
  })
  test('is whole again when the instances are gone, and they are new when it is repartitioned', () => {
    const { page } = host()
    const ids = (readings: readonly Reading[]): readonly string[] =>
      (page(readings).get('DCGM_FI_DEV_FB_USED')?.samples ?? [])
        .filter(({ labels }) => labels['gpu'] === '0')
        .map(({ labels }) => labels['GPU_I_ID'] ?? 'whole')
    expect(ids(cut)).toEqual(['7', '11'])
    expect(ids([])).toEqual(['whole'])
    expect(ids(instance('1', 1))).toEqual(['1'])
  })
  test("leaves the agent's own names as they are", () => {
    const found = host().page(cut).get(memoryUsed.name)?.samples ?? []
    expect(found.map(({ labels }) => labels['gi'] ?? 'whole')).toEqual(['whole', 'whole', '7', '11'])
  })
})

describe('identity labels', () => {
  test('stand under the names of the fields, absent where not read', () => {
    const store = createLatestStore()
    store.apply(
      scrape('gpu', 'g', T, [
        { series: makeSeries(gpuInfo, { ...GPU0, name: 'H100', minor: '3', driver_version: '1' }), value: 1 },
        { series: makeSeries(memoryUsed, GPU0), value: 1 },
      ]),
    )
    const labels = (dcgm: '4.9' | 'classic') =>
      parseExposition(
        createExposition({ latest: store, dcgm, hostnameLabel: 'Hostname', hostname: 'h', identity: ['minor_number', 'name', 'serial'] })
          .page('text')
          .body.toString(),
        'text',
      ).get(dcgm === 'classic' ? 'DCGM_FI_DEV_FB_USED' : 'DCGM_FI_DEV_FB_USED_BYTES')?.samples[0]?.labels
    expect(labels('classic')).toMatchObject({ DCGM_FI_DEV_NAME: 'H100', DCGM_FI_DEV_MINOR_NUMBER: '3', DCGM_FI_DRIVER_VERSION: '1' })
    expect(labels('classic')).not.toHaveProperty('DCGM_FI_DEV_SERIAL')
    expect(labels('4.9')).toMatchObject({ DCGM_FI_DEV_GPU_NAME: 'H100', DCGM_FI_DEV_GPU_MINOR_NUMBER: '3', DCGM_FI_SYSTEM_DRIVER_VERSION: '1' })
  })
})
