// What clusters, container engines, clouds and hosts refuse before a job runs; written for this test.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const explained = (text: string) => explainText(logScanner(), text)
const answer = (text: string): string =>
  explained(text)
    .map(({ title, verdict, remedies }) => [title, verdict, ...remedies.map((one) => `${one.text} ${one.command ?? ''}`)].join('\n'))
    .join('\n')

test.each([
  [
    'a quota',
    'pods "x-1" is forbidden: exceeded quota: team-a, requested: requests.nvidia.com/gpu=2, used: requests.nvidia.com/gpu=7, limited: requests.nvidia.com/gpu=8\n',
    'config_error',
    /the limit is requests\.nvidia\.com\/gpu=8/,
  ],
  ['a policy', 'Error: admission webhook "check.example" denied the request: image must be pinned\n', 'config_error', /image must be pinned/],
  ['an unknown kind', 'error: no matches for kind "RayJob" in version "ray.io/v1"\n', 'config_error', /api-resources \| grep -i rayjob/],
  [
    'an account without rights',
    'pods is forbidden: User "system:serviceaccount:a:b" cannot list resource "pods" in API group "" in the namespace "a"\n',
    'permission_denied',
    /can-i list pods --as=system:serviceaccount:a:b -n a/,
  ],
  ['no cluster', 'The connection to the server localhost:8080 was refused - did you specify the right host or port?\n', 'config_error', /KUBECONFIG/],
  ['an old device plugin', 'error building device map: error building GPU device: error getting device memory: Not Supported\n', 'gpu_not_visible', /0\.17\.4/],
  [
    'another CPU',
    'Error response from daemon: no matching manifest for linux/arm64 in the manifest list entries\n',
    'config_error',
    /no build for linux\/arm64/,
  ],
  [
    'a registry out of reach',
    'failed to do request: Head "https://reg.example.org/v2/a/manifests/1": dial tcp 10.0.0.1:443: i/o timeout\n',
    'network_error',
    /reg\.example\.org does not answer/,
  ],
  [
    'an unknown authority',
    'Get "https://reg.local:5000/v2/": tls: failed to verify certificate: x509: certificate signed by unknown authority\n',
    'network_error',
    /certs\.d\/reg\.local:5000/,
  ],
  [
    'no right to the socket',
    'permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: connect: permission denied\n',
    'permission_denied',
    /usermod -aG docker/,
  ],
  [
    'a port',
    'driver failed programming external connectivity on endpoint a (1): Bind for 0.0.0.0:8123 failed: port is already allocated\n',
    'port_in_use',
    /sport = :8123/,
  ],
  ['a name', 'Conflict. The container name "/serve" is already in use by container "aaaa1111".\n', 'config_error', /docker rm serve/],
  [
    'pyxis and a file',
    'pyxis: importing docker image: my.sqsh\nslurmstepd: error: pyxis: failed to import docker image\n',
    'config_error',
    /--container-image=\.\/my\.sqsh/,
  ],
  ['a reset', 'The following GPUs could not be reset:\n  GPU 00000000:0A:00.0: In use by another client\n', 'gpu_busy', /00000000:0A:00\.0 is in use/],
  ['no room for MIG', 'Unable to create a GPU instance on GPU  3 using profile 14: Insufficient Resources\n', 'config_error', /Profile 14 on GPU 3/],
  [
    'a module of another kernel',
    "nvidia: version magic '6.1.0-1 SMP ' should be '6.1.0-2 SMP '\n",
    'driver_not_loaded',
    /built for kernel 6\.1\.0-1, and 6\.1\.0-2 runs/,
  ],
  ['a file server', 'nfs: server store7 not responding, still trying\n', 'storage_error', /awk '\$2 ~ \/\^D\/'/],
  [
    'a driver that hangs',
    'INFO: task trainer:77 blocked for more than 120 seconds.\nCall Trace:\n  uvm_ioctl+0x1/0x2 [nvidia_uvm]\n',
    'job_failed',
    /the trace is in the driver nvidia_uvm/,
  ],
  [
    'a disk that hangs',
    'INFO: task trainer:77 blocked for more than 120 seconds.\nCall Trace:\n  nfs_wait_bit+0x1/0x2 [nfs]\n',
    'storage_error',
    /file system \(nfs\)/,
  ],
  [
    'packages',
    ' cuda-runtime-12-9 : Depends: cuda-drivers (>= 575.1) but 570.2-1 is to be installed\n',
    'config_error',
    /apt-cache policy cuda-runtime-12-9 cuda-drivers/,
  ],
  [
    'a quota of a cloud',
    "Error 403: Insufficient regional quota: resource \"NVIDIA_L4_GPUS\": request requires '4.0' and is short '4.0'. project has a quota of '0.0'\n",
    'gpu_unschedulable',
    /may have 0 NVIDIA_L4_GPUS, and 4 were asked for/,
  ],
  ['a cloud without machines', 'ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS: the zone does not have enough resources\n', 'gpu_unschedulable', /another zone/],
  [
    'a full node',
    'Warning  Evicted  2m  kubelet  The node was low on resource: ephemeral-storage. Threshold quantity: 1000, available: 2097152Ki.\n',
    'job_killed',
    /low on ephemeral-storage: 2[.0]{0,3} GiB were left/,
  ],
  ['a claim that is not there', 'FailedScheduling 0/2 nodes are available: persistentvolumeclaim "weights" not found.\n', 'storage_error', /kubectl get pvc/],
  [
    'an autoscaler that adds nothing',
    "pod didn't trigger scale-up: 2 node(s) had untolerated taint {gpu: yes}\n",
    'gpu_unschedulable',
    /autoscaler added no node/,
  ],
  ['Karpenter', 'Failed to schedule pod, no instance type satisfied resources {"nvidia.com/gpu":"16"}\n', 'gpu_unschedulable', /"nvidia\.com\/gpu":"16"/],
  [
    'Kueue',
    "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor a100, 4 more needed\n",
    'gpu_unschedulable',
    /lacks 4 nvidia\.com\/gpu of the flavor a100/,
  ],
  ['an IOMMU group', 'kvm: vfio 0000:05:00.0: group 22 is not viable\n', 'config_error', /iommu_groups\/22\/devices/],
  ['file watches', 'OSError: [Errno 28] inotify watch limit reached\n', 'fd_limit', /max_user_watches/],
  ['an old AMD card', 'kfd kfd: amdgpu: TONGA  not supported in kfd\n', 'gpu_not_visible', /does not support the TONGA/],
  ['munge', 'error: Munge encode failed: Invalid credential\n', 'permission_denied', /"Invalid credential"/],
  [
    'a bridge of Docker',
    'Open MPI failed to TCP connect to a peer MPI process.\n  Message:    connect() to 172.17.0.1:1024 failed\n',
    'network_error',
    /at 172\.17\.0\.1/,
  ],
])('%s', (_, text, kind, expected) => {
  expect(explained(text).map((fault) => fault.kind)).toContain(kind)
  expect(answer(text)).toMatch(expected)
})

test.each([
  ['a file server that answers again', 'nfs: server store7 not responding, still trying\nnfs: server store7 OK\n'],
  ["a service of the driver that ends is no job's end", 'systemd[1]: nvidia-persistenced.service: Main process exited, code=exited, status=1/FAILURE\n'],
  ['a list of commands', 'kubectl get runtimeclass\ndocker ps\n'],
])('quiet: %s', (_, text) => {
  expect(explained(text)).toEqual([])
})
