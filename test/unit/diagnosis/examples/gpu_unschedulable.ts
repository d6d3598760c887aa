// Pods for which Kubernetes has no GPU; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['gpu_unschedulable']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'the scheduler',
    text: 'Warning  FailedScheduling  12s  default-scheduler  0/4 nodes are available: 1 node(s) had untolerated taint {dedicated: infra}, 3 Insufficient nvidia.com/gpu.',
    kinds: one,
  },
  {
    name: 'AMD',
    text: '0/2 nodes are available: 2 Insufficient amd.com/gpu. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.',
    kinds: one,
  },
  {
    name: 'the autoscaler',
    text: "Normal  NotTriggerScaleUp  30s  cluster-autoscaler  pod didn't trigger scale-up: 1 max node group size reached, 2 Insufficient nvidia.com/gpu",
    kinds: one,
  },
  {
    name: 'the kubelet',
    text: 'Warning  UnexpectedAdmissionError  8s  kubelet  Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 2, Available: 1, which is unexpected',
    kinds: one,
  },
  {
    name: 'a pod that names its node',
    text: "Pod was rejected: Node didn't have enough resource: nvidia.com/gpu, requested: 1, used: 8, capacity: 8",
    kinds: one,
  },
  { name: 'the device plugin', text: "'nvidia.com/gpu' device marked unhealthy: GPU-11111111-2222-3333-4444-555555555555", kinds: one },
  {
    name: 'after an Xid',
    text: "XidCriticalError: Xid=79 on Device=GPU-11111111-2222-3333-4444-555555555555, the device will go unhealthy.\n'nvidia.com/gpu' device marked unhealthy: GPU-11111111-2222-3333-4444-555555555555",
    kinds: ['xid', 'gpu_unschedulable'],
    facts: { xid: 79 },
  },
  { name: 'memory', text: '0/3 nodes are available: 3 Insufficient memory.', kinds: one },
  { name: 'quiet: a node that fits', text: '2/3 nodes are available: 1 Insufficient memory.', kinds: [] },
  {
    name: 'claims of devices',
    text: 'Warning  FailedScheduling  4s  default-scheduler  0/5 nodes are available: 5 cannot allocate all claims.',
    kinds: ['gpu_unschedulable'],
  },
  {
    name: 'shares of one GPU',
    text: "Allocate failed due to rpc error: code = Unknown desc = request for 'nvidia.com/gpu.shared: 4' too large: maximum request size for shared resources is 1, which is unexpected",
    kinds: ['gpu_unschedulable'],
  },
  {
    name: 'MIG without instances',
    text: 'error building GPU device map: invalid MIG mode: device 1 has an invalid MIG configuration',
    kinds: ['gpu_unschedulable'],
  },
  {
    name: 'quiet: the pod found a node since',
    text: '  Type     Reason            Age   From               Message\n  Warning  FailedScheduling  2m3s  default-scheduler  0/3 nodes are available: 3 Insufficient nvidia.com/gpu.\n  Normal   Scheduled         51s   default-scheduler  Successfully assigned lab/fit-0 to node-b',
    kinds: [],
  },
]
