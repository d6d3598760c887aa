// The source of what the kubelet gave to pods, against a real gRPC server on a Unix socket that answers well, badly, late and not at all.
import { mkdtempSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { inventoryOf } from '../../../agent/inventory/inventory.ts'
import { gpuInfo } from '../../../agent/metrics/gpu-identity.ts'
import { makeSeries } from '../../../agent/model/series.ts'
import { createPodResourcesSource } from '../../../agent/sources/pod-resources.ts'
import { listPodResources } from '../../../agent/sources/pod-resources/kubelet.ts'
import { startKubelet } from '../../setup/kubelet.ts'
import { poll } from '../../setup/poll.ts'
import { runSource, type RunningSource } from '../../setup/run-source.ts'

const inventory = inventoryOf([0, 1, 2].map((gpu) => ({ series: makeSeries(gpuInfo, { gpu: String(gpu), uuid: `GPU-${gpu}` }), value: 1 })))
const NAME = 'warpwatch_container_gpu_assigned'
let running: RunningSource | undefined
afterEach(() => running?.stop())
const start = (socketPath: string): RunningSource => (running = runSource(createPodResourcesSource({ socketPath, inventory })))
const reported = (run: RunningSource): readonly string[] =>
  run
    .of(NAME)
    .map(({ series: { labels }, value }) => `${labels['namespace']}/${labels['pod']}/${labels['container']} ${labels['gpu']} ${labels['resource']} ${value}`)

describe('pods and their GPUs', () => {
  test('are told, once for each GPU however many replicas of it a pod has', async () => {
    await using kubelet = await startKubelet([
      { pod: 'train-0', ids: ['GPU-0', 'GPU-1'] },
      { pod: 'serve-0', namespace: 'web', container: 'server', resource: 'nvidia.com/gpu.shared', ids: ['GPU-2::0', 'GPU-2::3'] },
      { pod: 'nic-0', resource: 'rdma/hca', ids: ['mlx5_0'] },
      { pod: 'plain-0', ids: [] },
    ])
    const run = start(kubelet.socketPath)
    await poll(() => run.of(NAME).length > 0, { what: 'the pods' })
    expect(reported(run)).toEqual([
      'ml/train-0/trainer 0 nvidia.com/gpu 1',
      'ml/train-0/trainer 1 nvidia.com/gpu 1',
      'web/serve-0/server 2 nvidia.com/gpu.shared 1',
    ])
    expect(run.gaps()).toEqual([])
  })

  test('of a card that this host does not show are a gap', async () => {
    await using kubelet = await startKubelet([{ pod: 'train-0', ids: ['GPU-0', 'MIG-9'] }])
    const run = start(kubelet.socketPath)
    await poll(() => run.of(NAME).length > 0, { what: 'the pods' })
    expect(reported(run)).toEqual(['ml/train-0/trainer 0 nvidia.com/gpu 1'])
    expect(run.gaps()).toMatchObject([{ metric: NAME, labels: { pod: 'train-0' }, detail: expect.stringContaining('MIG-9') }])
  })

  test('none is told where there is no kubelet', async () => {
    const run = start(join(mkdtempSync(join(tmpdir(), 'none-')), 'kubelet.sock'))
    await run.stop()
    expect([run.of(NAME), run.gaps()]).toEqual([[], []])
  })
})

describe('an answer', () => {
  test('of thousands of devices is read whole', async () => {
    const ids = Array.from({ length: 1_000 }, (_, i) => `GPU-0::${i}`)
    await using kubelet = await startKubelet(Array.from({ length: 20 }, (_, i) => ({ pod: `p-${i}`, ids })))
    const listed = await listPodResources(kubelet.socketPath, 20_000)
    if ('failed' in listed) throw new Error(listed.failed)
    expect([listed.assignments.length, listed.assignments.at(-1)?.deviceIds.length]).toEqual([20, 1_000])
  })
  test('that is a refusal is told with its words', async () => {
    await using kubelet = await startKubelet([])
    kubelet.give('too many requests')
    expect(await listPodResources(kubelet.socketPath, 20_000)).toEqual({ failed: 'gRPC status 8: too many requests' })
  })
  test('that does not come is given up in time', async () => {
    await using kubelet = await startKubelet([])
    kubelet.give(undefined)
    expect(await listPodResources(kubelet.socketPath, 50)).toEqual({ failed: 'no answer within 50 ms', timedOut: true })
  })
})

test.each([
  ['closes at once', (socket: Socket) => socket.destroy()],
  ['speaks HTTP/1', (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ['sends garbage', (socket: Socket) => socket.end(Buffer.alloc(4_096, 0xff))],
])('a server that %s is a failure, not an exception', async (_, answer) => {
  const socketPath = join(mkdtempSync(join(tmpdir(), 'wrong-')), 'kubelet.sock')
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    answer(socket)
  }).listen(socketPath)
  const listed = await listPodResources(socketPath, 20_000)
  server.close()
  expect(listed).toMatchObject({ failed: expect.stringMatching(/./) })
})
test('a socket that nobody listens on is a failure', async () => {
  expect(await listPodResources(join(tmpdir(), 'nobody.sock'), 20_000)).toMatchObject({ failed: expect.stringContaining('ENOENT') })
})
