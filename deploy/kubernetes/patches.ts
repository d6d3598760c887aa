// What components and overlays change of the DaemonSet: strategic merge patches, typed after what they patch.
import type { IDaemonSet } from 'kubernetes-models/apps/v1'
import type { IContainer } from 'kubernetes-models/v1'
import { NAME, NAMESPACE } from './names.ts'

/** A part of T; null takes a field away. Members of a list are found by their name, so they keep it. */
export type Patch<T> = T extends readonly (infer Item)[]
  ? readonly (Patch<Item> & (Item extends { name: string } ? { readonly name: string } : unknown))[]
  : T extends object
    ? { readonly [Key in keyof T]?: Patch<T[Key]> | null }
    : T
export type DaemonSetPatch = Patch<IDaemonSet>

type Pod = NonNullable<NonNullable<NonNullable<IDaemonSet['spec']>['template']>['spec']>

const ofPod = (spec: Patch<Pod>): DaemonSetPatch => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: NAME, namespace: NAMESPACE },
  spec: { template: { spec } },
})
const ofContainer = (container: Patch<IContainer>): DaemonSetPatch => ofPod({ containers: [{ ...container, name: NAME }] })

export const gpuNodes = ofPod({ nodeSelector: { 'nvidia.com/gpu.present': 'true' } })

/** Control planes too, and nodes under pressure: where a node is in trouble, its agent says why. A list of tolerations is replaced as a whole. */
export const everyNode = ofPod({ tolerations: [{ operator: 'Exists' }] })

export const nvidiaRuntime = ofPod({ runtimeClassName: 'nvidia' })

/** A privileged container has all capabilities and devices, and runs without seccomp; the API refuses it together with allowPrivilegeEscalation: false. */
export const privileged = ofContainer({
  env: [
    { name: 'WARPWATCH_LOGS__KERNEL', value: 'true' },
    { name: 'NVIDIA_MIG_MONITOR_DEVICES', value: 'all' },
  ],
  securityContext: { privileged: true, allowPrivilegeEscalation: true, capabilities: null, seccompProfile: null },
})

/** The same pods with the same rights, and readings of a host that is not there. */
export const simulated = ofContainer({ env: [{ name: 'WARPWATCH_SIMULATE__SCENARIO', value: 'healthy' }] })
