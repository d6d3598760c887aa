// What helps when NCCL (or RCCL) failed: by a rank that did not come, the path between ranks that failed, a wrong use, or an error of the GPU.
import { INFERENCE } from '../../situation/programs.ts'
import { lessMemory } from '../cuda-oom/less/index.ts'
import { driverLines } from '../parts/drm.ts'
import { around } from '../parts/window.ts'
import type { Matched } from '../parts/rules.ts'
import { synchronous, xidsBeside } from './debug.ts'
import { printTorch, setVariables } from './environment.ts'
import { whoHolds } from './gpu.ts'
import { peerLog, portDown } from './infiniband-status.ts'
import { noPeers } from './nccl-warnings.ts'
import type { Piece } from './plan.ts'
import { trlServer } from './trl.ts'

export const MEMORY = /out of memory/
/** As the shell, YAML and NCCL's own log say it. */
const WITHOUT_PEERS = /NCCL_P2P_DISABLE["']?(?:[=:]| set by environment to)\s{0,3}["']?1/
/** CUDA's words where a library has no code for the GPU. https://github.com/NVIDIA/nccl/issues/1372 */
export const NO_KERNELS = /named symbol not found|no kernel image is available|invalid device function|device kernel image is invalid/
/** Memory that one process gives to another by a handle: NCCL's p2p.cc, and its NVLink domains over nodes (MNNVL). */
export const SHARED = /\bp2p\.cc:\d{1,5} NCCL WARN (?:Cuda|HIP) failure (?:101|1|800|801)\b|cuMemImportFromShareableHandle/
export const PEER_ACCESS = /peer (?:access|mapping)|(?:cuda|hip)Ipc\w{3,24} failed/
/** https://github.com/NVIDIA/nccl/issues/1092: it reports all errors of the network so. */
export const INTERNAL_OF_218 = /internal error[^\n]{0,80}NCCL version 2\.18/
export const INFINIBAND = /NET\/IB(?! : No device)|net_ib|\bmlx\d|ibv_|InfiniBand/
const SEVERAL_HOSTS = /nnodes["']?[= ]{1,3}["']?[2-9]|node[_ -]?rank["']?[= ]{1,3}["']?[1-9]|tcp:\/\/(?!127\.|localhost)\d/i
const PEER =
  /(?:recv|send|Connect|connection)[^\n]{0,40}?\b(?:from|to)\s{1,2}(?!socket\b|peer\b|remote\b)(\S{4,60}?)(?:\s|$)|peer ([\w.-]{2,60}<\d{1,5}>|\d[\d.<>:]{6,40})/g

/** The path that failed decides (variables: docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html; without `=` a name is a prefix): InfiniBand, a peer's socket, or NCCL's own set-up. */
export function system({ text, at, message, situation }: Matched): readonly Piece[] {
  const near = `${message}\n${around(text, at, 2, 4)}`
  const now = situation()
  const debug: Piece = !/NCCL INFO|\.(?:cu|h|cc):\d{1,5} WARN /.test(now.text) && {
    text: 'Let NCCL say which call failed, and on which interface.',
    command: setVariables(now, { NCCL_DEBUG: 'INFO', NCCL_DEBUG_SUBSYS: 'INIT,NET' }),
  }
  if (MEMORY.test(near) || PEER_ACCESS.test(message)) return cuda({ text, at, message, situation })
  if (/ibv_reg_mr\w{0,8} failed[^\n]{0,40}(?:Cannot allocate memory|error 12\b)/.test(near))
    return [
      {
        text: `Let the job lock as much memory as it wants: InfiniBand registers buffers, and the limit is reached. ${now.programs.has('slurm') ? 'In Slurm slurmd hands its own limit on (LimitMEMLOCK=infinity in its unit).' : 'On the host: memlock unlimited in /etc/security/limits.conf, then log in again.'}`,
        command: 'ulimit -l',
      },
      { text: 'In a container:', command: `docker run --ulimit memlock=-1 ${now.subject.image ?? '<IMAGE>'}` },
      debug,
    ]
  if (INFINIBAND.test(near)) {
    const qp = /ibv_modify_qp failed/.test(near)
    const port = /\b(mlx\d{1,2}_\d{1,3})(?::(\d))?|\bon dev (\w{2,24}):\d/.exec(near)
    const device = port?.[1] ?? port?.[3]
    return [
      portDown(now),
      {
        text: `Check the InfiniBand or RoCE port${device === undefined ? '' : ` ${device}`}: its state, cable, switch port and error counters.`,
        command: `ibstat ${device ?? ''}`.trim() + '; ibv_devinfo',
      },
      // Rails: each card reaches only its namesakes on other hosts. NVIDIA/nccl#2013
      qp &&
        /\b110\b|timed out/.test(near) && {
          text: 'The peer did not answer. If cards reach only those of the same number on other hosts (rails), let NCCL keep to these.',
          command: setVariables(now, { NCCL_CROSS_NIC: '0' }),
        },
      // The queue pair of RoCE is bound to a GID, which means an address.
      qp && {
        text: 'On RoCE, name the index of the GID (RoCE v2) by whose address the hosts reach each other.',
        command: `grep . /sys/class/infiniband/*/ports/*/gid_attrs/types/*\n${setVariables(now, { NCCL_IB_GID_INDEX: '<INDEX>' })}`,
      },
      qp
        ? { text: 'Until then let NCCL use sockets, which is slower.', command: setVariables(now, { NCCL_IB_DISABLE: '1' }) }
        : port === null
          ? {
              text: 'If the link is sound but slow to recover, raise the time-out of NCCL.',
              // 4.096 us x 2^22 = 17 s for each of 7 tries; the default is 20 (18 before NCCL 2.23).
              command: setVariables(now, { NCCL_IB_TIMEOUT: '22' }),
            }
          : { text: 'Until it is repaired, leave that port out.', command: setVariables(now, { NCCL_IB_HCA: `^=${device}` }) },
      debug,
    ]
  }
  // A name that no interface has leaves an address without a family. https://github.com/NVIDIA/nccl/issues/1837
  if (/no socket interface found|Address family not supported|neither AF_INET\(2\) nor AF_INET6/.test(near)) {
    const set = /NCCL_SOCKET_IFNAME (?:set (?:by environment )?to |=) ?([\w.^,=-]{1,60})/.exec(now.text)?.[1]
    return [
      {
        text: `Name an interface that is up here and by which the ranks reach each other${set === undefined ? '' : `: NCCL_SOCKET_IFNAME is ${set}, which this host or container does not have`}.`,
        command: `ip -brief address\n${setVariables(now, { NCCL_SOCKET_IFNAME: '<INTERFACE>' })}`,
      },
      /^[0-9a-f]{12}:\d{1,7}:\d{1,7} \[/m.test(now.text) && {
        text: "In a container: start it with the host's network.",
        command: `docker run --network host ${now.subject.image ?? '<IMAGE>'}`,
      },
      set !== undefined && { text: 'Or leave the variable out: NCCL then looks for one itself.', command: 'unset NCCL_SOCKET_IFNAME' },
    ]
  }
  const peers = new Set([...near.matchAll(PEER)].map(([, of, peer]) => (of ?? peer ?? '').replace(/[.,;]$/, '')))
  const bridged = [...peers].find((peer) => peer.startsWith('172.17.'))?.replace(/<.*/, '')
  const unreachable = /No route to host|[Nn]etwork is unreachable/.exec(near)?.[0]
  if (unreachable !== undefined) {
    const to = /\b(?:[Cc]onnect(?:ing)?|[Cc]onnection) to (\d[\d.]{6,14}\d)/.exec(near)?.[1]
    return [
      // Docker's default network, which ends at the host.
      to?.startsWith('172.17.') === true && {
        text: `${to} is an address of Docker's own bridge, which containers of other hosts cannot reach: start them with the host's network.`,
        command: `docker run --network host ${now.subject.image ?? '<IMAGE>'}`,
      },
      {
        text: `See by which interface this host would reach ${to ?? 'the peer'}: ${unreachable === 'No route to host' ? 'nothing answers there, or a firewall rejects it' : 'it has no route there'}.`,
        command: to === undefined ? 'ip -brief address; ip route' : `ip route get ${to}; ip -brief address`,
      },
      {
        text: 'Let NCCL use the interface by which the nodes reach each other.',
        command: setVariables(now, { NCCL_SOCKET_IFNAME: '<INTERFACE>' }),
      },
      { text: 'Open the firewall between the nodes: NCCL listens on ports that the system chooses.' },
      debug,
    ]
  }
  if (/Call to bind failed|bind failed/.test(near))
    return [
      {
        text: 'Remove NCCL_COMM_ID from the environment: with it every communicator wants the same port.',
        command: 'env | grep NCCL',
      },
      { text: 'See how many sockets are open: an exhausted range of ports fails the same way.', command: 'ss -s; sysctl net.ipv4.ip_local_port_range' },
      debug,
    ]
  // docs.nvidia.com/deeplearning/nccl/user-guide: NCCL_SOCKET_FAMILY
  if (/\bfe80:[\da-f:]{4,40}(?:%\w{1,16})?</i.test(near))
    return [
      {
        text: 'NCCL took an IPv6 link-local address (fe80:…), which leads no further than one link: let it use IPv4.',
        command: setVariables(now, { NCCL_SOCKET_FAMILY: 'AF_INET' }),
      },
      {
        text: 'Name the interface that has an address in the network of the hosts, if it is another one.',
        command: `ip -brief address\n${setVariables(now, { NCCL_SOCKET_IFNAME: '<INTERFACE>' })}`,
      },
      debug,
    ]
  if (/refused|reset by peer|closed by|remote process|Connect to|ncclRemoteError/i.test(near))
    return [
      bridged === undefined &&
        SEVERAL_HOSTS.test(now.text) &&
        now.programs.has('docker') &&
        !/--net(?:work)?[= ]host/.test(now.text) && {
          text: "Start the containers with the host's network: ranks on other hosts do not reach one of their own.",
          command: `docker run --network host ${now.subject.image ?? '<IMAGE>'}`,
        },
      bridged !== undefined && {
        text: `If the ranks are on several hosts: ${bridged} is an address of Docker's own bridge, which other hosts cannot reach. Start the containers with the host's network.`,
        command: `docker run --network host ${now.subject.image ?? '<IMAGE>'}`,
      },
      {
        text: `Look at the log of the peer${peers.size === 0 ? '' : ` (${[...peers].slice(0, 3).join(', ')})`}: its error came first.`,
      },
      {
        text: 'If no rank died: see which interface the hosts have in common, let NCCL use that one, and open the firewall between them.',
        command: `ip -brief address\n${setVariables(now, { NCCL_SOCKET_IFNAME: '<INTERFACE>' })}`,
      },
      debug,
    ]
  if (/real path of \/sys|pci_bus|topo/i.test(near))
    return [
      {
        text: 'NCCL could not read the PCI topology: mount /sys into the container, or in a virtual machine name the topology file of the provider.',
        command: setVariables(now, { NCCL_TOPO_FILE: '<FILE>' }),
      },
      { text: 'See which topology the host shows.', command: 'nvidia-smi topo -m' },
      debug,
    ]
  // ROCm's installation FAQ, issue 5.
  const iommu = /Missing "(iommu=pt|amd_iommu=on)" from kernel command line/.exec(now.text)?.[1]
  return [
    iommu !== undefined && {
      text: `RCCL misses ${iommu} on the kernel command line, without which several GPUs can hang: add it to GRUB_CMDLINE_LINUX_DEFAULT in /etc/default/grub, then reboot.`,
      command: 'sudo update-grub; cat /proc/cmdline',
    },
    debug === false && peerLog,
    debug,
    (INTERNAL_OF_218.test(near) ||
      /socket|connect|bootstrap|interface|\bnet\b|recv|send|unhan\w{3,4} system error|ncclSystem|ncclRemote|ncclUniqueId|timed? ?out/i.test(near)) && {
      text: `If the log ${debug === false ? '' : 'then '}shows the wrong interface, name the one by which the ranks reach each other.`,
      command: setVariables(now, { NCCL_SOCKET_IFNAME: '<INTERFACE>' }),
    },
    /shm|shared memory|unhan\w{3,4} system error/i.test(near) &&
      (!now.programs.has('docker') && !now.programs.has('compose')
        ? { text: 'See whether shared and locked memory are too small: a container has 64 MiB of /dev/shm by default.', command: 'df -h /dev/shm; ulimit -l' }
        : {
            text: `Give the container shared and locked memory${SEVERAL_HOSTS.test(now.text) ? ", and the host's network: ranks on other hosts do not reach one of its own" : ''}.`,
            command: `docker run ${SEVERAL_HOSTS.test(now.text) ? '--network host ' : ''}--shm-size=8g --ulimit memlock=-1 ${now.subject.image ?? '<IMAGE>'}`,
          }),
  ]
}
/** 21903: 2.19.3. */
const ncclVersion = (code = ''): string => (code.length < 5 ? code : `${Number(code.slice(0, -4))}.${Number(code.slice(-4, -2))}.${Number(code.slice(-2))}`)
export function usage({ text, at, match, situation }: Matched): readonly Piece[] {
  if (match[0].startsWith('ranks'))
    return [
      {
        text: 'Give every process its own RANK, and all the same WORLD_SIZE: see how the launcher numbers the nodes (--node_rank; Slurm: one task for each GPU).',
      },
    ]
  const versions = /Mismatched NCCL version detected : rank (\d{1,6}) has version (\d{3,6}) rank (\d{1,6}) has version (\d{3,6})/.exec(around(text, at, 4, 4))
  if (versions !== null)
    return [
      {
        text: `Run all ranks with one NCCL: rank ${versions[1]} has ${ncclVersion(versions[2])}, rank ${versions[3]} ${ncclVersion(versions[4])}. Use the same image or environment on all hosts; LD_LIBRARY_PATH may bring another libnccl.`,
        command: 'python -c "import torch; print(torch.__version__, torch.cuda.nccl.version())"; ldconfig -p | grep nccl',
      },
    ]
  // TRL sends the weights to its server as a rank of its own. https://github.com/huggingface/trl/issues/3487
  if (/vllm_client/.test(around(text, at, 12, 2)))
    return trlServer('Start the vLLM server on other GPUs than the training: the trainer sends it the weights by NCCL, which takes one rank for each GPU.')
  const pair = /rank (\d{1,6}) and rank (\d{1,6}) both on CUDA device (\w{1,12})/.exec(around(text, at, 4, 4))
  const { programs } = situation()
  const server = INFERENCE.some((one) => programs.has(one))
  return [
    pair === null &&
      !/NCCL WARN/.test(around(text, at, 12, 2)) && {
        text: 'Let NCCL say what it refuses, and start it again: the line with NCCL WARN names the reason.',
        command: 'export NCCL_DEBUG=WARN',
      },
    server
      ? { text: 'See that each rank has a GPU of its own: the server may split the model over no more GPUs than it sees (CUDA_VISIBLE_DEVICES, --gpus).' }
      : {
          text: `Give every rank its own GPU${pair === null ? '' : ` (ranks ${pair[2]} and ${pair[1]} share device ${pair[3]})`}: call torch.cuda.set_device(int(os.environ["LOCAL_RANK"])) before init_process_group.`,
        },
    { text: 'Start no more ranks on a node than it has GPUs.', command: 'nvidia-smi -L' },
  ]
}
/** NCCL's code for collectives inside the NVSwitches (NVLink SHARP). */
export const NVLS = /transport\/nvls\.cc:\d{1,5} NCCL WARN/
export function cuda({ text, at, message, situation }: Pick<Matched, 'text' | 'at' | 'message' | 'situation'>): readonly Piece[] {
  const now = situation()
  const near = `${message}\n${around(text, at, 3, 5)}`
  if (MEMORY.test(near))
    return [
      { text: 'Free GPU memory for NCCL: its buffers are allocated beside the framework, which holds nearly all of it.' },
      lessMemory(now, {}).slice(0, 2),
      whoHolds(now),
    ]
  if (NO_KERNELS.test(near))
    return [
      {
        text: 'See for which architectures it was built, and which libnccl is loaded (LD_LIBRARY_PATH, a module of the cluster or pip).',
        command:
          'nvidia-smi --query-gpu=name,compute_cap --format=csv; ldconfig -p | grep libnccl; cuobjdump --list-elf <LIBNCCL> | grep -o "sm_[0-9]*" | sort -u',
      },
      { text: 'Use a build that has it: a newer release, or your own with -gencode for it (make NVCC_GENCODE=…).' },
    ]
  if (PEER_ACCESS.test(near))
    return [
      // NVIDIA/nccl#1838: from 2.24 on it also shares host memory by a call that asks for access between the GPUs.
      (WITHOUT_PEERS.test(now.text) || /transport\/shm\.cc/.test(near)) && {
        text: "Switch off NCCL's newer host buffers (cuMem), which need access between the GPUs. Set the variable for every rank: launchers such as Ray do not pass on all variables.",
        command: setVariables(now, { NCCL_CUMEM_HOST_ENABLE: '0' }),
      },
      ...noPeers({ situation }).slice(WITHOUT_PEERS.test(now.text) ? 1 : 0),
    ]
  if (SHARED.test(near))
    return [
      /MNNVL/.test(now.text) && {
        text: 'See whether IMEX runs on every node of the domain, and whether the pods or containers were given the same channel.',
        command: 'systemctl status nvidia-imex; nvidia-imex-ctl -N; ls -l /dev/nvidia-caps-imex-channels',
      },
      {
        text: 'Give the processes of one node all of its GPUs, and let each choose its own (CUDA_VISIBLE_DEVICES, LOCAL_RANK), so that they can map the memory of the others.',
        command: 'nvidia-smi -L',
      },
      { text: 'Until then let NCCL do without.', command: setVariables(now, /MNNVL/.test(now.text) ? { NCCL_MNNVL_ENABLE: '0' } : { NCCL_P2P_DISABLE: '1' }) },
    ]
  if (NVLS.test(near))
    return [
      {
        text: 'See that the Fabric Manager runs in the version of the driver, and that the fabric of each GPU is Completed. If it was restarted while the driver ran, the GPUs need a reset, or the host a reboot.',
        command: 'systemctl status nvidia-fabricmanager; nvidia-smi -q | grep -A3 -i fabric',
      },
      { text: 'Until then do without (somewhat slower).', command: setVariables(now, { NCCL_NVLS_ENABLE: '0' }) },
    ]
  if (/initialization error/.test(near))
    return [
      {
        text: 'See whether CUDA starts there at all; in a process that was forked after CUDA had started it does not.',
        command: printTorch('torch.zeros(1).cuda()'),
      },
    ]
  return [
    !/NCCL (?:INFO|WARN)/.test(now.text) &&
      (/run with NCCL_DEBUG/.test(message) || !/(?:Cuda|HIP) failure/.test(near)) && {
        text: 'Let NCCL name the CUDA error.',
        command: setVariables(now, { NCCL_DEBUG: 'INFO' }),
      },
    { text: 'Look for the first error of any rank: an earlier failure on the GPU shows up in the next NCCL call.' },
    synchronous(now),
    now.vendor === 'amd' ? { text: 'See what the driver of the GPUs logged in the same second.', command: driverLines('amdgpu', 40) } : xidsBeside,
  ]
}
