// What Open MPI and MPICH say when ranks cannot be started or cannot reach each other.
import type { FaultFamily } from './family.ts'
import { step } from './parts/rows.ts'
import type { Matched } from './parts/rules.ts'
import { tupleFamily, type Tuple } from './parts/tuples.ts'
import { around } from './parts/window.ts'

const IN_SLURM = ({ situation, text, at }: Matched): boolean => situation().programs.has('slurm') || /srun/.test(around(text, at, 6, 20))
const INTERFACE = step(
  'Name the network by which the hosts reach each other; else a bridge of Docker or a network of virtual machines may be chosen.',
  'ip -brief address\nmpirun --mca oob_tcp_if_include <INTERFACE> --mca btl_tcp_if_include <INTERFACE> <COMMAND>',
)

/** Omni-Path's library, and its follower on other cards. */
const PSM = /PSM[23]? (?:can't open (?:hfi|nic) unit|no (?:hfi|nic) units are active|was unable to open an endpoint)|hfi_userinit: [^\n]{4,80}failed/

const ROWS: readonly Tuple[] = [
  [
    /No components were able to be opened in the (\w{2,20}) framework/,
    'Open MPI cannot load its parts',
    ({ match }) =>
      `Open MPI found no usable component of its framework ${match[1]}: its files are not there, belong to another release, or a setting (--mca, OMPI_MCA_…) leaves none.`,
    () => [
      step('See which installation is used, and which settings are in force.', 'which mpirun; ompi_info | head -n 3; env | grep OMPI_MCA_'),
      step('Take the restriction away, or install Open MPI with the transport that it names (UCX for pml ucx).'),
    ],
    'missing_dependency',
  ],
  [
    /Open MPI failed to TCP connect to a peer MPI process|mca_btl_tcp_endpoint\w{0,30}\] (?:received unexpected|connect\(\))/,
    'Open MPI reached the wrong network',
    ({ text, at }) => {
      const to = /connect\(\) to (\S{4,60}?)(?::\d{1,5})? failed/.exec(around(text, at, 2, 12))?.[1]
      return `Open MPI tried to reach a rank${to === undefined ? '' : ` at ${to}`} over a network by which the hosts do not reach each other, such as the bridge of Docker (172.17.x.x), or a firewall is between.`
    },
    () => [INTERFACE],
    'network_error',
  ],
  [
    /There are not enough slots available in the system to satisfy the (\d{1,6})\b/,
    'mpirun has fewer slots than ranks',
    ({ match }) =>
      `mpirun was asked for ${match[1]} ranks, and its hosts, or the job of the scheduler, offer fewer slots (without either: one for each core). Nothing was started.`,
    (matched) => [
      IN_SLURM(matched)
        ? step(`In Slurm ask for ${matched.match[1]} tasks: they are the slots.`, `sbatch --ntasks=${matched.match[1]} <SCRIPT>`)
        : step('Give each host as many slots as it has GPUs (or ranks to run).', `mpirun -np ${matched.match[1]} --host <HOST>:<SLOTS> <COMMAND>`),
      step('Or start no more ranks than there are GPUs.', 'nvidia-smi -L'),
      step('For a test without GPUs of their own, let ranks share cores.', `mpirun --oversubscribe -np ${matched.match[1]} <COMMAND>`),
    ],
  ],
  [
    /(?:mpirun|mpiexec|prterun|orterun) has detected an attempt to run as root/,
    'mpirun refuses to run as root',
    'By default Open MPI does not start ranks as root. Nothing was started.',
    ({ situation }) => [
      step(
        situation().programs.has('docker') || situation().programs.has('kubernetes')
          ? 'In a container this is usual: allow it.'
          : 'In a container allow it; on a host run it as a user.',
        'mpirun --allow-run-as-root <COMMAND>',
      ),
      step('Or by the environment:', 'export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1'),
    ],
    'permission_denied',
  ],
  [
    /MCA parameter "(plm_rsh_agent)"\s{1,3}was set to a path that could not be found|plm_rsh_agent: (ssh : rsh)/,
    'mpirun needs ssh, which is not installed',
    'Open MPI starts its ranks on other hosts through ssh (also looked for with one host), and this host or container has none.',
    () => [step('Install the client; on the other hosts the server, with a key that needs no password.', 'sudo apt-get install -y openssh-client')],
    'missing_dependency',
  ],
  [
    /(?:ORTE|PRTE) was unable to reliably start one or more daemons/,
    'mpirun could not start its daemon on a host',
    ({ text, at }) =>
      `mpirun could not start its daemon (orted, prted) on a host: ${
        /orted: command not found|prted: command not found/.test(around(text, at, 6, 12))
          ? 'Open MPI is not in PATH there'
          : 'ssh needs a password or is refused, Open MPI is not in PATH there, or its version differs'
      }.`,
    () => [
      step(
        'See that ssh works without a password, and that Open MPI is found there by a shell that is not interactive.',
        'ssh -o BatchMode=yes <HOST> "which orted prted; mpirun --version"',
      ),
      step('Open MPI must be installed under the same path on all hosts; name it where it is not in PATH.', 'mpirun --prefix <OPEN_MPI_FOLDER> <COMMAND>'),
    ],
    'network_error',
  ],
  [
    /(?:ORTE|PRTE|PMIx)\w* (?:has lost communication with a remote daemon|daemon has unexpectedly failed)/,
    'mpirun lost a host',
    'The daemon of Open MPI on a host ended or can no longer be reached: the host crashed or was taken away, the daemon was killed, or a firewall is between.',
    () => [step('See what happened on that host at that time.', 'ssh <HOST> "uptime; sudo dmesg -T | tail -n 40"'), INTERFACE],
    'network_error',
  ],
  [
    /(?:mpirun|prterun|orterun|mpiexec) was unable to (?:find the specified executable file|launch the specified application)/,
    'mpirun did not find the program',
    'The program is not on a host under that path, or may not be executed there. Nothing was started.',
    ({ text, at }) => {
      const named = /Executable: (\S{1,160})/.exec(around(text, at, 0, 14))?.[1]
      return [step('See that it is there on each host, in the same folder.', `ls -l ${named ?? '<PROGRAM>'}; command -v ${named ?? '<PROGRAM>'}`)]
    },
    'file_missing',
  ],
  [
    /A request was made to bind to that would result in binding more\s{1,3}processes than cpus/,
    'mpirun has fewer cores than ranks to bind',
    'Each rank was to be bound to cores of its own, and the host or the job has too few.',
    () => [step('Ask for more cores, or do not bind.', 'mpirun --bind-to none <COMMAND>')],
  ],
  [
    /direct launched using "srun",\s{1,3}but (?:OMPI|Open MPI) was not built with SLURM/,
    'srun cannot start ranks of this Open MPI',
    'This Open MPI was built without the PMI library by which srun tells each rank its number.',
    () => [
      step('See which PMI types Slurm has, and try pmix.', 'srun --mpi=list; srun --mpi=pmix <COMMAND>'),
      step('Or start it with mpirun inside the job.', 'mpirun -np "$SLURM_NTASKS" <COMMAND>'),
    ],
  ],
  [
    /Some of the requested hosts are not included in the current allocation/,
    'mpirun was given hosts that are not in the job',
    'The hosts of --host or the hostfile are not in what the scheduler gave this job.',
    () => [step('Leave them out (mpirun asks the scheduler), or compare names.', 'scontrol show hostnames "$SLURM_JOB_NODELIST"')],
  ],
  [
    /It looks like MPI_INIT failed for some reason/,
    'The network card of the MPI could not be opened',
    ({ text, at }) => `Open MPI could not start its transport over Omni-Path: "${PSM.exec(around(text, at, 40, 0))?.[0]}".`,
    () => [
      step(
        'See on that node whether the ports are up, and whether other jobs hold all contexts of the card.',
        'opainfo || ibstat; ls -l /dev/hfi1* /dev/infiniband',
      ),
      step('Let it run over TCP alone: if that works, the card is at fault.', 'mpirun --mca pml ob1 --mca btl self,vader,tcp <COMMAND>'),
    ],
    'network_error',
    ({ text, at }) => !PSM.test(around(text, at, 40, 0)),
  ],
  [
    /It looks like (?:orte_init|MPI_INIT|opal_init|prte_init|PMIx_Init|ompi_mpi_init) failed for some reason/,
    'MPI could not be initialised',
    ({ text, at }) => {
      const call = /^ {1,6}(\S[^\n]{2,80}) failed\s+--> Returned (?:value )?([^\n]{3,60}?)(?: instead of|$)/m.exec(around(text, at, 0, 24))
      return `Open MPI failed while it started${call === null ? '' : ` (${call[1]}: ${(call[2] ?? '').trim()})`}: mostly two Open MPI are mixed, its files are not found, or a transport does not start.`
    },
    () => [
      step(
        'See which MPI each part uses: mpirun, the library of the program, and mpi4py must be of one installation.',
        'which mpirun; mpirun --version; env | grep -E "OMPI|OPAL|PMIX|MPI_HOME|LD_LIBRARY_PATH"',
      ),
      step('Let it run over TCP alone: if that works, the other transport is at fault.', 'mpirun --mca pml ob1 --mca btl self,vader,tcp <COMMAND>'),
    ],
    'missing_dependency',
  ],
  [
    /Fatal error in (?:internal_|P?MPI_|MPIR_)\w{2,40}: (?:Other MPI error|Unknown error class|[^\n]{4,80}), error stack/,
    'MPI failed',
    ({ text, at }) => {
      const stack = around(text, at, 0, 12).split('\n')
      const last = stack.filter((line) => /^\w{4,60}\(\d{1,6}\)/.test(line)).at(-1)
      return `MPICH or Intel MPI gave up${last === undefined ? '' : `: "${last.replace(/^\w{4,60}\(\d{1,6}\)\.*: ?/, '').slice(0, 140)}"`}.`
    },
    () => [
      step('Let it name the network that it chose, and try TCP.', 'export I_MPI_DEBUG=5 FI_PROVIDER=tcp; fi_info -l'),
      step(
        'See that mpirun, the library of the program and mpi4py are of one MPI.',
        'which mpirun; mpirun --version; python -c "import mpi4py; print(mpi4py.get_config())"',
      ),
    ],
    'network_error',
  ],
  [
    /= {1,4}BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES[^]{0,400}?EXIT (?:CODE|STATUS): (\d{1,3})/,
    'A rank of the job ended badly',
    ({ match }) =>
      `A rank ended with code ${match[1]}${match[1] === '9' ? ' (SIGKILL: often the kernel, where host memory ran out)' : match[1] === '11' || match[1] === '139' ? ' (SIGSEGV: a crash in native code)' : ''}, and mpiexec ended the others.`,
    ({ match }) => [
      match[1] === '9'
        ? step("See in the kernel's log whether its OOM killer did it.", "sudo dmesg -T | grep -iE 'killed process|oom-kill' | tail")
        : step('Look at the output of that rank just before: prefix each line with its rank.', 'mpiexec -l -n <RANKS> <COMMAND>'),
    ],
    'job_failed',
  ],
]

export const mpi: FaultFamily = tupleFamily(
  'mpi',
  'config_error',
  [
    'There are not enough slots available in',
    'No components were able to be opened in',
    'Open MPI failed to TCP connect to a peer',
    'mca_btl_tcp_endpoint',
    'has detected an attempt to run as root',
    'MCA parameter "plm_rsh_agent"',
    'plm_rsh_agent: ssh',
    'was unable to reliably start one or more daemons',
    'has lost communication with a remote daemon',
    'daemon has unexpectedly failed',
    'was unable to find the specified executable file',
    'was unable to launch the specified application',
    'would result in binding more',
    'direct launched using "srun"',
    'requested hosts are not included in the current allocation',
    ' failed for some reason',
    ', error stack',
    'BAD TERMINATION OF ONE OF YOUR',
  ],
  ROWS,
)
