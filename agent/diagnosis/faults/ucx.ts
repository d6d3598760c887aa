// What UCX says when ranks cannot reach each other: MPI and many data loaders send through it.
import type { FaultFamily } from './family.ts'
import { step } from './parts/rows.ts'
import { tupleFamily, type Tuple } from './parts/tuples.ts'
import { around } from './parts/window.ts'

const DEVICES = step(
  'See which devices and transports UCX finds here, and which variables restrict it.',
  'ucx_info -d | grep -E "Transport|Device"; env | grep UCX_; ibv_devinfo | grep -E "hca_id|state"',
)
const MEMLOCK = step(
  'Let the job lock as much memory as it wants: InfiniBand registers its buffers. In a container: docker run --ulimit memlock=-1; in Slurm LimitMEMLOCK=infinity in the unit of slurmd.',
  'ulimit -l',
)

/** What follows where lines of several ranks are read as one. */
const NEXT_RECORD = / (?:\d{1,6}: )?\[\d{10}\.[^]*$/
const ROWS: readonly Tuple[] = [
  [
    /UCX {1,2}ERROR [^\n]{0,200}(?:no active messages transport|Destination is unreachable|no usable transports\/devices|no \w{2,30} transport to)/,
    'UCX finds no way to the other rank',
    ({ match }) => {
      const asked = /asked ([^\n)]{3,120})\)/.exec(match.input)?.[1]
      return `UCX has no transport that both sides share${asked === undefined ? '' : ` (asked ${asked})`}: the ports are in different networks, a device is down, or UCX_TLS and UCX_NET_DEVICES leave too little.`
    },
    ({ text, at }) => {
      const device = /\b(mlx5_\w{1,12}):\d/.exec(around(text, at, 2, 3))?.[1]
      return [
        DEVICES,
        step(
          `See that the ports are up on both hosts and in one network (subnet or VLAN)${device === undefined ? '' : `: here ${device}`}.`,
          `ibstat${device === undefined ? '' : ` ${device}`}; ip -brief address`,
        ),
        step('Take the restriction away, or let it use TCP meanwhile (slower).', 'unset UCX_TLS UCX_NET_DEVICES; export UCX_TLS=tcp,cuda_copy,sm,self'),
      ]
    },
  ],
  [
    /UCX {1,2}ERROR [^\n]{0,200}(?:ibv_reg_mr|ibv_exp_reg_mr|failed to register address|reg_mr\([^\n]{0,100}\) failed|memlock|Please set max locked memory)/,
    'UCX could not register memory for InfiniBand',
    ({ match }) =>
      /(?:Bad address|Invalid argument)/.test(match.input)
        ? 'The card could not register the memory: for memory of a GPU the module nvidia-peermem (or DMA-BUF) is needed.'
        : 'The card could not register the memory: the limit of locked memory is mostly the reason.',
    ({ match }) => [
      /(?:Bad address|Invalid argument)/.test(match.input)
        ? step('Load the module that lets the card reach memory of the GPU.', 'sudo modprobe nvidia-peermem; lsmod | grep peermem')
        : MEMLOCK,
      step('Until then let data go through host memory (slower).', 'export UCX_IB_GPU_DIRECT_RDMA=no'),
    ],
  ],
  [
    /(?:UCX {1,2}ERROR [^\n]{0,200}|\bib_mlx5_log\.c:\d{1,5} {1,4})(?:[Tt]ransport retry count exceeded|Endpoint timeout|[Cc]onnection reset by remote|Remote access error|Local QP operation)/,
    'UCX lost the other rank',
    'The other side no longer answers: its process ended, or the InfiniBand path is broken.',
    () => [
      step('Look for the first error of the other ranks: a rank that ended takes the connection with it.'),
      step('If none ended: see state and error counters of the ports.', 'ibstat; sudo ibqueryerrors 2>/dev/null | head'),
    ],
  ],
  [
    /UCX {1,2}ERROR [^\n]{0,200}(?:shmget|shm_open|mmap|posix_shm|\/dev\/shm)[^\n]{0,120}(?:No space left|Cannot allocate|failed)/,
    'UCX could not get shared memory',
    'Ranks of one host talk through shared memory, and there was not enough of it.',
    () => [step('See how full it is; in a container give it more (docker run --shm-size=8g, or --ipc=host).', 'df -h /dev/shm; ipcs -lm')],
    'shm_exhausted',
  ],
  [
    /UCX {1,2}ERROR (?:[^\n]{0,40}: )?([^\n]{8,160})/,
    'UCX reports a failure',
    ({ match }) => `UCX reports: "${match[1]?.replace(NEXT_RECORD, '').trim()}".`,
    () => [DEVICES, step('Let it say more.', 'export UCX_LOG_LEVEL=info')],
  ],
]

export const ucx: FaultFamily = tupleFamily('ucx', 'network_error', ['UCX  ERROR', 'UCX ERROR', 'ib_mlx5_log.c:'], ROWS)
