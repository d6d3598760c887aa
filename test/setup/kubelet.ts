// A kubelet as far as its pod-resources API goes: a real gRPC server on a Unix socket, with what the test says that it gave to pods.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Server, ServerCredentials, status, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js'
import protobuf from 'protobufjs'

/** `ids` of one resource; NVIDIA's by default. */
export type Given = {
  readonly pod: string
  readonly namespace?: string
  readonly container?: string
  readonly resource?: string
  readonly ids: readonly string[]
}
export type Kubelet = {
  readonly socketPath: string
  /** From now on; a text is the error of each call, undefined no answer at all. */
  readonly give: (pods: readonly Given[] | string | undefined) => void
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

const types = protobuf.loadSync(join(import.meta.dirname, 'pod-resources.proto'))
const same = (value: Buffer): Buffer => value

function answerOf(pods: readonly Given[]): Buffer {
  const type = types.lookupType('v1.ListPodResourcesResponse')
  const podResources = pods.map(({ pod, namespace = 'ml', container = 'trainer', resource = 'nvidia.com/gpu', ids }) => ({
    name: pod,
    namespace,
    containers: [
      { name: 'sidecar', cpuIds: [1, 2, 300] },
      { name: container, cpuIds: [3], devices: [{ resourceName: resource, deviceIds: ids, topology: { nodes: [{ ID: 1 }] } }] },
    ],
  }))
  return Buffer.from(type.encode(type.fromObject({ podResources })).finish())
}

export async function startKubelet(pods: readonly Given[]): Promise<Kubelet> {
  const folder = mkdtempSync(join(tmpdir(), 'kubelet-'))
  const socketPath = join(folder, 'kubelet.sock')
  let now: Parameters<Kubelet['give']>[0] = pods
  const server = new Server({ 'grpc.max_send_message_length': -1 })
  const definition = {
    path: '/v1.PodResourcesLister/List',
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  } as const
  const list = (_call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>): void => {
    if (now === undefined) return
    if (typeof now === 'string') return done({ code: status.RESOURCE_EXHAUSTED, details: now })
    done(null, answerOf(now))
  }
  server.addService({ List: definition }, { List: list })
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${socketPath}`, ServerCredentials.createInsecure(), (error) => (error === null ? resolve() : reject(error))),
  )
  return {
    socketPath,
    give: (next) => (now = next),
    async [Symbol.asyncDispose]() {
      server.forceShutdown()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
