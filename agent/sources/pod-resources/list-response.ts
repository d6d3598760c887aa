// What the kubelet's List answers (k8s.io/kubelet/pkg/apis/podresources/v1, api.proto): the devices that each container was given. Pure.
import { fieldsOf, messages } from '../../lib/protobuf.ts'

export type Assignment = {
  readonly namespace: string
  readonly pod: string
  readonly container: string
  /** `nvidia.com/gpu`, `nvidia.com/mig-1g.10gb`, or what the device plugin was told to call it. */
  readonly resource: string
  readonly deviceIds: readonly string[]
}

/** A node has 110 pods by default and 500 at most in earnest; a device plugin may give each container hundreds of replicas. */
const MOST_PODS = 2_000
const MOST_DEVICES = 4_096

const textOf = (message: Buffer, field: number): string => messages(fieldsOf(message), field)[0]?.toString('utf8') ?? ''

/**
 * ListPodResourcesResponse { PodResources pod_resources = 1 }; PodResources { name = 1, namespace = 2, ContainerResources containers = 3 };
 * ContainerResources { name = 1, ContainerDevices devices = 2 }; ContainerDevices { resource_name = 1, string device_ids = 2 }.
 * undefined: not such an answer.
 */
export function parseListResponse(answer: Buffer): readonly Assignment[] | undefined {
  const fields = fieldsOf(answer)
  if (fields === undefined) return undefined
  const found: Assignment[] = []
  for (const pod of messages(fields, 1).slice(0, MOST_PODS)) {
    const [name, namespace] = [textOf(pod, 1), textOf(pod, 2)]
    for (const container of messages(fieldsOf(pod), 3))
      for (const devices of messages(fieldsOf(container), 2)) {
        const deviceIds = messages(fieldsOf(devices), 2).slice(0, MOST_DEVICES)
        found.push({
          namespace,
          pod: name,
          container: textOf(container, 1),
          resource: textOf(devices, 1),
          deviceIds: deviceIds.map((id) => id.toString('utf8')),
        })
      }
  }
  return found.filter(({ namespace, pod, container }) => namespace !== '' && pod !== '' && container !== '')
}
