// What NCCL's own warnings mean, one by one, where the words name the cause (source: its WARN calls, up to NCCL 2.29).
import type { Matched } from '../parts/rules.ts'
import { step } from '../parts/rows.ts'
import { setVariables, withoutPeers } from './environment.ts'
import { peerLog, set, STATUS } from './infiniband-status.ts'
import type { Piece } from './plan.ts'

type Pieces = (matched: Matched, found: RegExpExecArray) => readonly Piece[]
type Warning = { readonly title: string; readonly verdict: string; readonly remedies: readonly Piece[] }
type Row = readonly [pattern: RegExp, title: string, verdict: string | ((matched: Matched) => string), remedies: Pieces]

const memlock = (slurm: boolean): Piece =>
  step(
    `Let the job lock as much memory as it wants: the network card registers what it sends, and the limit is mostly the reason. ${slurm ? 'In Slurm slurmd hands its own limit on (LimitMEMLOCK=infinity in its unit).' : 'On the host: memlock unlimited in /etc/security/limits.conf, then log in again; in a container: docker run --ulimit memlock=-1.'}`,
    'ulimit -l',
  )
/** Direct access between two GPUs was refused. */
export const noPeers = (matched: Pick<Matched, 'situation'>): readonly Piece[] => [
  withoutPeers(matched.situation()),
  {
    text: 'See which GPUs can reach each other; with IOMMU or ACS on, in virtual machines, and between ranks in containers of their own they often cannot.',
    ...(matched.situation().vendor === 'amd' ? {} : { command: 'nvidia-smi topo -p2p r' }),
  },
]
const MEMLOCK: Pieces = ({ situation }) => [
  memlock(situation().programs.has('slurm')),
  step('See whether the device files are there: a container needs them, and the right to lock memory (IPC_LOCK).', 'ls -l /dev/infiniband; ibv_devinfo | head'),
]
const PORT = (near: string): string => /\b((?:mlx\d{1,2}|bnxt_re|irdma|efa|rocep?|ib)\w{0,12})(?::\d)?/.exec(near)?.[1] ?? ''

const ROWS: readonly Row[] = [
  [
    /(ibv_create_qp|ibv_create_cq|ibv_reg_mr\w{0,14}|ibv_alloc_pd|mlx5dv_create_qp)\b[^\n]{0,40} failed(?! with error (?!Cannot allocate memory|No such file))/,
    'InfiniBand could not get locked memory',
    '$1 failed, so the card could not set up a queue or register a buffer: mostly the limit of locked memory, in a container also missing device files.',
    MEMLOCK,
  ],
  [
    /NET\/OFI [^\n]{0,60}[Uu]nable to register memory[^\n]{0,60}(?:RC: -?12\b|Cannot allocate memory)/,
    'The network card could not register memory',
    'libfabric (EFA) could not register a buffer: "Cannot allocate memory", mostly the limit of locked memory, or more registrations than the card allows.',
    ({ situation }) => [
      memlock(situation().programs.has('slurm')),
      step('If it is unlimited already: update aws-ofi-nccl and the EFA driver together, and exchange with fewer peers at once (all-to-all registers most).'),
    ],
  ],
  [
    /(?:failed to (?:open CUDA IPC handle|peer with device)[^\n]{0,60}?: \d{1,3} |(?:cuda|hip)Ipc\w{3,24} failed ?: ?)([a-z]{3,20}(?: [a-z]{1,20}){1,10})(?= |$)/,
    'A GPU cannot reach the memory of another',
    'NCCL wanted to use direct access between two GPUs (P2P), and it was refused: "$1".',
    noPeers,
  ],
  [
    /Error while attaching to shared memory segment (\S{3,80})/,
    'A rank does not see the shared memory of another',
    'A rank of the same host wanted to open $1, and it is not there: the other rank ended first, or each rank runs in a container of its own with its own /dev/shm.',
    (matched) => [
      peerLog,
      step(
        'Ranks in several containers of one host: share /dev/shm between them (docker run --ipc=host), or do without.',
        set(matched, { NCCL_SHM_DISABLE: '1' }),
      ),
      step('systemd removes the shared memory of a user who logs out: keep it.', 'grep RemoveIPC /etc/systemd/logind.conf; loginctl enable-linger "$USER"'),
    ],
  ],
  [
    /Bootstrap : no socket interface found|no device found (?:matching|after excluding) (?:exactly )?(\S{0,60})|No usable listening interface|NET\/Socket : no interface found/,
    'NCCL finds no network interface',
    'No interface of this host fits NCCL_SOCKET_IFNAME (or NCCL_OOB_NET_IFNAME), or none is up.',
    ({ situation }) => {
      const named = /(?:NCCL_SOCKET_IFNAME|NCCL_OOB_NET_IFNAME)(?:=| set (?:by environment )?to |: ?)["']?([\w.^,=-]{1,60})/.exec(situation().text)?.[1]
      return [
        {
          text: `Name an interface that is up here and by which the ranks reach each other${named === undefined ? '' : `: ${named} is not there`}.`,
          command: `ip -brief address\n${setVariables(situation(), { NCCL_SOCKET_IFNAME: '<INTERFACE>' })}`,
        },
        step('Or leave the variable out: NCCL then looks for one itself.', 'unset NCCL_SOCKET_IFNAME NCCL_OOB_NET_IFNAME'),
      ]
    },
  ],
  [
    /NCCL library is (?:too old|not backwards compatible)\. This application was compiled with NCCL version (\S{3,20}), but is running with NCCL library version (\S{3,20}?)\./,
    'Another NCCL is loaded than the program needs',
    'The program was compiled for NCCL $1, and $2 is loaded.',
    () => [
      step(
        'See which libnccl is found first: LD_LIBRARY_PATH, LD_PRELOAD or a package of the system hides the one of pip.',
        'python -m pip list | grep -i nccl; ldconfig -p | grep libnccl; env | grep LD_',
      ),
    ],
  ],
  [
    /MNNVL \(cliqueSize (\d{1,4})\) is available but not working/,
    'NVLink between the hosts does not work',
    'NCCL sees a domain of $1 GPUs over several hosts (multi-node NVLink) and cannot use it: the IMEX service or its channel is missing.',
    (matched) => [
      step(
        'See that nvidia-imex runs on all hosts of the domain, and that the channel is in the container.',
        'nvidia-imex-ctl -N; ls /dev/nvidia-caps-imex-channels',
      ),
      step('In Kubernetes let a ComputeDomain (DRA driver) make the channel.'),
      step('Until then do without.', set(matched, { NCCL_MNNVL_ENABLE: '0' })),
    ],
  ],
  [
    /Failed to bind NVLink SHARP \(NVLS\) Multicast memory/,
    'NVLink SHARP cannot be used',
    "NCCL could not bind memory for NVLink SHARP: the Fabric Manager or the fabric is not as it should be, or another program uses all of the switch's multicast groups.",
    (matched) => [
      step('See that the Fabric Manager runs, and has the version of the driver.', 'systemctl status nvidia-fabricmanager; nvidia-smi -q | grep -A3 -i fabric'),
      step('Until then do without (somewhat slower).', set(matched, { NCCL_NVLS_ENABLE: '0' })),
    ],
  ],
  [
    /P2P is disabled between NVLINK connected GPUs (\d{1,3}) and (\d{1,3})/,
    'NVLink between two GPUs is not used',
    'GPUs $1 and $2 are joined by NVLink and the driver does not let them reach each other: mostly a fault of hardware or of its set-up.',
    (matched) => [
      step('See the state of the links, and what the kernel says.', "nvidia-smi nvlink -s; nvidia-smi topo -p2p r; sudo dmesg -T | grep -E 'NVRM|Xid' | tail"),
      step('To go on meanwhile, much slower.', set(matched, { NCCL_IGNORE_DISABLED_P2P: '1' })),
    ],
  ],
  [
    /Detected mixed local (?:Net|CollNet) device counts across ranks \(min (\d{1,3}), max (\d{1,3})\)/,
    'The hosts have different numbers of network cards',
    'Some ranks see $1 network devices and others $2: a card or port is down on a host, or not passed into its container.',
    (matched) => [
      step('Compare the cards of the hosts.', 'ibv_devinfo | grep -E "hca_id|state"; ls /dev/infiniband'),
      step('If that is meant, or to go on meanwhile:', set(matched, { NCCL_IGNORE_NET_MISMATCH: '1' })),
    ],
  ],
  [
    /(?:Attempted to connect incompatible devices|Remote \S{1,30} device is incompatible with the local)/,
    'InfiniBand and Ethernet cards are mixed',
    'NCCL chose a port of InfiniBand on one host and one of RoCE (Ethernet) on the other: they cannot talk to each other.',
    (matched) => [
      step('Name the cards of one sort only, on all hosts.', `ibv_devinfo | grep -E "hca_id|link_layer"\n${set(matched, { NCCL_IB_HCA: '<DEVICES>' })}`),
    ],
  ],
  [
    /message truncated : receiv\w{2,4} (\d{1,9}) bytes instead of (\d{1,9})|Message truncated/,
    'The ranks do not send what the others expect',
    'A rank got a message of another size than it waits for: the ranks call different collectives or sizes, have different versions or NCCL variables, or something else connects to the port.',
    (matched) => [
      step('Give all hosts the same image and the same NCCL_ variables.', 'env | grep NCCL_ | sort'),
      step('Let PyTorch check that all ranks call the same (slower).', set(matched, { TORCH_DISTRIBUTED_DEBUG: 'DETAIL' })),
    ],
  ],
  [
    /CUDA Driver version found is (\d{4,6})\. Minimum requirement is (\d{4,6})/,
    'The driver is too old for this NCCL',
    'NCCL needs a driver for CUDA $2 and finds $1 (thousands: major version, tens: minor).',
    () => [step('Update the driver, or use a build for an older CUDA.', 'nvidia-smi')],
  ],
  [
    /FP8 reduction support begins with sm90/,
    'This GPU cannot reduce FP8',
    'NCCL adds FP8 only on Hopper (compute capability 9.0) and newer, and this GPU is older.',
    () => [step('Let gradients and activations be exchanged in bfloat16 instead.')],
  ],
  [
    /Failed to initialize any NET plugin|NET\/Plugin[^\n]{0,80}(?:[Ff]ailed|[Ee]rror)|libfabric error|OFI fi_getinfo|aws-ofi|NET\/OFI [^\n]{0,80}(?:[Ff]ail|[Ee]rror|not)/,
    "NCCL's network plugin does not start",
    'The network plugin (aws-ofi-nccl and the like) finds no network that it can use, or does not fit this NCCL.',
    (matched) => [
      step(
        'See which devices the plugin finds; on AWS the security group must allow all traffic to itself, and /dev/infiniband be in the container.',
        'fi_info -p efa | head; ls /dev/infiniband',
      ),
      step('Meanwhile let NCCL use its own transport.', set(matched, { NCCL_NET: 'Socket', NCCL_NET_PLUGIN: 'none' })),
    ],
  ],
  [
    /exceeded error retry count (?:\S{1,10} )?after (\d{1,6}) attempts|connect to (\S{4,60}) (?:returned|failed)/,
    'A rank cannot be reached',
    'NCCL tried to connect to another rank and gave up.',
    (matched) => [
      peerLog,
      step(
        'See that the ranks use an interface by which they reach each other, and that no firewall is between (NCCL listens on ports that the system chooses).',
        `ip -brief address\n${set(matched, { NCCL_SOCKET_IFNAME: '<INTERFACE>' })}`,
      ),
    ],
  ],
  [
    /Error encountered progressing operation=(\w{3,20}), res=|Failed to execute operation (\w{3,20}) from rank/,
    'A connection between two ranks could not be set up',
    (matched) =>
      `NCCL's helper thread failed in the step $1$2 with another rank: the lines beside it name that rank, which ended first or cannot be reached.${refusedBeside(matched)}`,
    (matched) => [
      peerLog,
      step(
        'If no rank ended: see that the ranks use an interface by which they reach each other, and that no firewall is between.',
        `ip -brief address\n${set(matched, { NCCL_SOCKET_IFNAME: '<INTERFACE>' })}`,
      ),
    ],
  ],
  [
    /UDS: |ncclIpcSocket|Proxy Service UDS/,
    'Ranks of one host cannot pass buffers to each other',
    'NCCL hands file descriptors from rank to rank through a local socket, and that failed: the ranks are in containers with network namespaces of their own, or a rank ended.',
    (matched) => [
      peerLog,
      step('Put the ranks of a host into one container (or --network host), or do without that way.', set(matched, { NCCL_CUMEM_ENABLE: '0' })),
    ],
  ],
  [
    /NET\/IB ?: No device found|Failed to open (?:IB|the IB) device/,
    'NCCL found no InfiniBand device',
    'NCCL found no InfiniBand or RoCE device here; without one it uses sockets, which are slower.',
    (matched) => [
      step('See whether this host, or the container, has one.', 'ibv_devinfo; ls /dev/infiniband'),
      step('In a container: pass the devices, and let it lock memory.', 'docker run --device=/dev/infiniband --ulimit memlock=-1 <IMAGE>'),
      step('Where there is none: let NCCL not look for one.', set(matched, { NCCL_IB_DISABLE: '1' })),
    ],
  ],
  [
    /Comm \S{1,20} is in abort state|communicator was revoked|Attempt to use communicator before the previous operation/,
    'NCCL was used after an abort',
    'The communicator was aborted before: another error came first.',
    () => [peerLog],
  ],
  [
    /(?:async fatal event|Got (?:non-fatal )?async event)[^\n]{0,60}(?:port error|LID|link|GID)|GID table changed/,
    'An InfiniBand port went down or changed',
    'The driver reported an event of the port: its link went down or its address changed while the job ran.',
    ({ message }) => {
      const port = PORT(message)
      return [
        step(
          'See state, cable and error counters of the port, and what the kernel says.',
          `ibstat ${port}; sudo dmesg -T | grep -i mlx5 | tail`.replace('  ', ' ').replace('ibstat ;', 'ibstat;'),
        ),
        step('A link that goes down again and again: replace cable or transceiver, or try another port of the switch.'),
      ]
    },
  ],
]

/** The connection that failed in a line above, where that line names it. */
function refusedBeside({ message, text, at }: Matched): string {
  const [, peer, why] =
    /\bConnect to (\S{4,60}?)(?:<\d{1,5}>)? failed ?: ?([A-Z][a-z]{1,20}(?: [a-z]{1,20}){0,5}?)(?=\s+\S{1,80}:\d{1,9}:\d{1,9} \[|\s*$)/m.exec(
      `${text.slice(Math.max(0, at - 6), at).join('\n')}\n${message}`,
    ) ?? []
  return peer === undefined ? '' : ` It could not connect to ${peer}: ${why?.toLowerCase()}.`
}

export function warning(matched: Matched): Warning | undefined {
  const words = matched.message.slice(Math.max(0, matched.message.indexOf('NCCL WARN')))
  const status = /[Gg]ot completion from peer \S{1,80} with (?:status=\w{0,40}?\(?|error )(\d{1,2})\b/.exec(words)
  const known = status === null ? undefined : STATUS[status[1] ?? '']
  if (known !== undefined) {
    const peer = /from peer (\S{4,60}?)(?:<\d{1,5}>)? with/.exec(words)?.[1]
    const [, down, port] = /\b(\w{2,20}):(\d{1,2}) Got (?:non-fatal )?async event ?: port error/.exec(matched.situation().text) ?? []
    const hca = /\bhca (\w{2,20})/.exec(words)?.[1] ?? down
    return {
      title: 'The InfiniBand path between two ranks failed',
      verdict: `A transfer with ${peer ?? 'a peer'} ended with status ${status?.[1]}: ${known[0]}.${down === undefined ? '' : ` Port ${port} of ${down} reported an error here too: its link went down.`}`,
      remedies: [
        known[1](matched, { device: hca, peer }),
        status?.[1] === '5' || status?.[1] === '13'
          ? undefined
          : step('See state and error counters of the port.', `ibstat${hca === undefined ? '' : ` ${hca}`}; sudo ibqueryerrors | head`),
      ],
    }
  }
  for (const [pattern, title, verdict, remedies] of ROWS) {
    const found = pattern.exec(words)
    if (found !== null)
      return {
        title,
        verdict: (typeof verdict === 'string' ? verdict : verdict(matched)).replace(/\$(\d)/g, (_, group: string) => found[Number(group)] ?? ''),
        remedies: remedies(matched, found),
      }
  }
  return undefined
}
