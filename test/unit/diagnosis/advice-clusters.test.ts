// Schedulers, MPI, UCX, NCCL's warnings and clusters of Ray: why a job waits or does not start, written for this test.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const explained = (text: string) => explainText(logScanner(), text)
const answer = (text: string): string =>
  explained(text)
    .map(({ kind, title, verdict, remedies }) => [kind, title, verdict, ...remedies.map((one) => `${one.text} ${one.command ?? ''}`)].join('\n'))
    .join('\n')
const scheduled = (why: string): string =>
  `Warning  FailedScheduling  9s  default-scheduler  0/7 nodes are available: ${why}. preemption: 0/7 nodes are available: 7 Preemption is not helpful for scheduling.\n`
const queue = (reason: string): string =>
  `  JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)\n   7301       gpu    tune      ola PD       0:00      1 (${reason})\n`
const nccl = (words: string): string => `node3:812:990 [2] NCCL WARN ${words}\n`

test.each([
  [
    "an address of Docker's bridge on another host",
    'gpu1:77:150 [0] include/socket.h:421 NCCL WARN Net : Connect to 172.17.0.2<45731> failed : No route to host\n',
    'nccl_error',
    /172\.17\.0\.2 is an address of Docker's own bridge[^]*--network host/,
  ],
  [
    'a model that DDP finds on the CPU',
    "ValueError: DistributedDataParallel device_ids and output_device arguments only work with single-device/multiple-device GPU modules or CPU modules, but got device_ids [0], output_device 0, and module parameters {device(type='cpu')}.\n",
    'python_exception',
    /still on the CPU[^]*model\.to\(local_rank\)/,
  ],
  [
    'a node that Ray lost, as its train controller tells it',
    "(TrainController pid=9) ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n(TrainController pid=9) The actor is dead because its node has died. Node Id: 77ab\n(TrainController pid=9) \tthe actor's node was terminated unexpectedly: health check failed due to missing too many heartbeats\n",
    'job_killed',
    /The node on which the job ran failed[^]*raylet\.out[^]*answers too late/,
  ],
  [
    'a node that Ray lost, whose possible reasons are no reason',
    'ray.exceptions.NodeDiedError: Task failed because the node it was running on is dead or unavailable. Node IP: 10.0.0.9, node ID: 77ab. This can happen if the node was preempted.\n',
    'job_killed',
    /^(?!preempted)[^]*ray list nodes/,
  ],
  ['a taint', scheduled('7 node(s) had untolerated taint {team: vision}'), 'gpu_unschedulable', /toleration for the taint team/],
  ['a node that is gone', scheduled('7 node(s) had untolerated taint {node.kubernetes.io/not-ready: }'), 'gpu_unschedulable', /kubelet reports a fault/],
  ['labels', scheduled("1 node(s) were unschedulable, 6 node(s) didn't match Pod's node affinity/selector"), 'gpu_unschedulable', /get nodes --show-labels/],
  ['memory', scheduled('7 Insufficient memory'), 'gpu_unschedulable', /of 7 nodes, 7 have too little memory free/],
  ['the zone of a volume', scheduled('7 node(s) had volume node affinity conflict'), 'gpu_unschedulable', /WaitForFirstConsumer/],
  ['ports', scheduled("7 node(s) didn't have free ports for the requested pod ports"), 'gpu_unschedulable', /hostPort/],
  [
    'GPUs and a volume',
    scheduled('1 node(s) had volume node affinity conflict, 6 Insufficient nvidia.com/gpu'),
    'gpu_unschedulable',
    /6 of 7 nodes have no free nvidia\.com\/gpu; 1 cannot reach/,
  ],
  ['nodes that are down', queue('ReqNodeNotAvail, UnavailableNodes:gpu[1-2]'), 'gpu_unschedulable', /do not answer: gpu\[1-2\]/],
  ['a limit', queue('QOSGrpGRES'), 'gpu_unschedulable', /limit of its account/],
  ['a dependency', queue('DependencyNeverSatisfied'), 'gpu_unschedulable', /scancel 7301/],
  ['a limit of time', queue('PartitionTimeLimit'), 'gpu_unschedulable', /will never start/],
  ['a record of scontrol', 'JobId=88 JobName=t\n   JobState=PENDING Reason=JobHeldUser Dependency=(null)\n', 'gpu_unschedulable', /scontrol release 88/],
  [
    'a drained node',
    'REASON               USER      TIMESTAMP           NODELIST\nLow RealMemory       slurm     2026-01-05T09:00:00 gpu12\n',
    'job_killed',
    /nodename=gpu12 state=resume/,
  ],
  [
    'a partition that is not there',
    'sbatch: error: Batch job submission failed: Invalid partition name specified\n',
    'job_failed',
    /Slurm did not accept the job/,
  ],
  ['a controller that is down', 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n', 'network_error', /scontrol ping/],
  [
    'slots',
    'There are not enough slots available in the system to satisfy the 12\nslots that were requested by the application:\n\n  ./train\n',
    'config_error',
    /mpirun was asked for 12 ranks/,
  ],
  ['root', 'mpirun has detected an attempt to run as root.\n', 'permission_denied', /--allow-run-as-root/],
  ['a daemon that does not start', 'ORTE was unable to reliably start one or more daemons.\n', 'network_error', /BatchMode=yes/],
  ['a rank that ended all', 'MPI_ABORT was invoked on rank 5 in communicator MPI_COMM_WORLD\nwith errorcode 3.\n', 'job_failed', /error of rank 5/],
  [
    'UCX without a way',
    '[17.2] [n1:9:0]  select.c:1  UCX  ERROR   no active messages transport to <no debug data>: rc_mlx5/mlx5_4:1 - Destination is unreachable\n',
    'network_error',
    /ibstat mlx5_4/,
  ],
  ['locked memory', nccl('Call to ibv_create_cq failed with error Cannot allocate memory errno 12'), 'nccl_error', /ulimit -l/],
  [
    'a peer that does not answer',
    nccl('NET/IB : Got completion from peer 10.1.2.3<99> with status=12 opcode=0 len=0 vendor err 129 (Send)'),
    'nccl_error',
    /did not answer/,
  ],
  [
    'shared memory of another',
    nccl('Error while attaching to shared memory segment /dev/shm/nccl-aaaa (size 10), error: No such file or directory (2)'),
    'nccl_error',
    /\/dev\/shm\/nccl-aaaa/,
  ],
  [
    'hosts joined by NVLink',
    nccl('MNNVL (cliqueSize 16) is available but not working on this system. Check the IMEX channel configuration'),
    'nccl_error',
    /nvidia-imex-ctl/,
  ],
  [
    'nodes of Ray',
    "(autoscaler +2s) Error: No available node types can fulfill resource request defaultdict(<class 'float'>, {'CPU': 1.0, 'GPU': 4.0}). Add suitable node types\n",
    'gpu_unschedulable',
    /1 CPU, 4 GPU/,
  ],
  ['the head of Ray', 'gcs_rpc_client.h:1: Failed to connect to GCS at address 10.0.0.5:6379 within 60 seconds.\n', 'network_error', /nc -zv 10\.0\.0\.5 6379/],
])('%s', (_, text, kind, expected) => {
  expect(explained(text).map((fault) => fault.kind)).toContain(kind)
  expect(answer(text)).toMatch(expected)
})

test.each([
  ['jobs that wait for their turn', `${queue('Priority')}   7302       gpu    tune      ola PD       0:00      1 (Resources)\n`],
  ['jobs that run', '  JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n   7301 gpu tune ola R 1:00 1 gpu07\n'],
  ['a pod that fits', '3/7 nodes are available: 4 Insufficient memory.\n'],
  ["NCCL's advice", nccl('Failed to open libibverbs.so[.1]')],
])('%s are no fault', (_, text) => {
  expect(explained(text)).toEqual([])
})

test('the crash names the library of its backtrace', () => {
  const text =
    '[h:1] *** Process received signal ***\n[h:1] Signal: Segmentation fault (11)\n[h:1] [ 0] /lib/libc.so.6(+0x1)[0x7f]\n[h:1] [ 1] /opt/x/libfoo_cuda.so.2(+0x5)[0x7f]\nmpirun noticed that process rank 1 with PID 7 on node h exited on signal 11 (Segmentation fault).\n'
  expect(answer(text)).toMatch(/in libfoo_cuda\.so\.2/)
})
