// What the host refuses: MIG, kernel modules, tasks that hang in the kernel, packages, Intel's runtime without a name.
import { rowFamily, step, type Row } from './parts/rows.ts'
import { around } from './parts/window.ts'

const HOLDERS = 'sudo fuser -v /dev/nvidia*; lsmod | grep nvidia_drm; systemctl list-units "nvidia*" "dcgm*"'
const IN_KERNEL = step('See for what it waits.', "ps -eo pid,stat,wchan:32,args | awk '$2 ~ /^D/'")
const DRIVER = /\[(nvidia\w{0,20}|amdgpu|amdkfd|xe|i915)\]/
const STORAGE = /\b(?:io_schedule|blk_|bio_|submit_|jbd2|nvme|scsi|wait_on_page|folio_wait|nfs|lustre|ceph|fuse|ext4|xfs|btrfs|zfs|gpfs|beegfs)/
const pci = (text: string): string | undefined => /GPU ([\da-fA-F]{8}:[\da-fA-F]{2}:[\da-fA-F]{2}\.\d)/.exec(text)?.[1]

const ROWS: readonly Row[] = [
  {
    kind: 'fd_limit',
    pattern: /inotify (?:watch|instance) limit reached/,
    title: 'The limit of file watches is reached',
    verdict: 'The kernel gives no more inotify watches to this user: editors, TensorBoard, Jupyter and sync tools use them up.',
    remedies: [step('Raise the limits.', 'sudo sysctl fs.inotify.max_user_watches=1048576 fs.inotify.max_user_instances=1024')],
  },
  {
    kind: 'gpu_not_visible',
    pattern: /kfd kfd: (?:amdgpu: )?(\w{3,40}) {1,3}not supported in kfd/,
    title: 'ROCm does not know this GPU',
    verdict: "The kernel's compute driver does not support the {1}: ROCm cannot use it; graphics and Vulkan can.",
    remedies: [step('Use a program that computes by Vulkan (llama.cpp and Ollama can), or a GPU that ROCm lists.', 'vulkaninfo --summary')],
  },
  {
    kind: 'gpu_busy',
    pattern:
      /The following GPUs could not be reset|^GPU [\da-fA-F:.]{10,16} is currently in use by (?:another process|one or more other processes)|MIG mode is in pending (enable|disable) state for GPU/,
    title: 'The GPU cannot be reset: something uses it',
    verdict: ({ match, text, at }) => {
      const gpu = pci(around(text, at, 0, 3))
      const more = text.slice(at + 2, at + 20).filter((line) => /: In use by another client/.test(line)).length
      return `${match[1] === undefined ? 'The reset was refused' : `MIG is set to be ${match[1]}d, which takes effect with a reset of the GPU`}: ${gpu === undefined ? 'the GPU' : gpu}${more === 0 ? ' is' : more === 1 ? ' and another GPU are' : ` and ${more} more GPUs are`} in use.`
    },
    remedies: [
      step('See what uses it: programs, nvidia-persistenced, DCGM, the Fabric Manager, a display, or the module nvidia_drm alone.', HOLDERS),
      {
        text: 'End those (work on the GPU is lost), then try again; the services start again afterwards.',
        command: 'sudo systemctl stop nvidia-persistenced nvidia-dcgm; sudo rmmod nvidia_drm nvidia_modeset; sudo nvidia-smi --gpu-reset',
        destroys: true,
      },
      { text: 'Or reboot the host.', destroys: true },
    ],
  },
  {
    kind: 'config_error',
    pattern:
      /Unable to create a (GPU|compute) instance on GPU {1,2}(\d{1,3})[^\n]{0,60}?using profile (\d{1,3}): Insufficient Resources|Failed to create (GPU|compute) instances: Insufficient Resources|error creating (?:GPU|compute) instance for '([\w.+]{3,20})': Insufficient Resources/,
    title: 'The GPU has no space for that MIG instance',
    verdict: ({ match }) =>
      `${match[5] !== undefined ? `The instance ${match[5]}` : match[3] === undefined ? 'The instance' : `Profile ${match[3]} on GPU ${match[2]}`} was not created: its slices of memory and compute are not free, or not in a row.`,
    remedies: [
      step('See how many of each profile still fit, and what there is.', 'nvidia-smi mig -lgip; nvidia-smi mig -lgi'),
      step('Create large instances before small ones: the places of a profile are fixed.', 'nvidia-smi mig -lgipp'),
      { text: 'Or start over: remove all instances (work on them ends).', command: 'sudo nvidia-smi mig -dci; sudo nvidia-smi mig -dgi', destroys: true },
    ],
  },
  {
    kind: 'permission_denied',
    pattern:
      /Failed to (?:display|create|destroy|list) (?:compute|GPU) instances?[^\n]{0,40}: Insufficient Permissions|Unable to (?:enable|disable|set) MIG [Mm]ode[^\n]{0,80}: Insufficient Permissions/,
    title: 'MIG cannot be changed from here',
    verdict:
      'Only root on the host may see and change all MIG instances; a container needs NVIDIA_MIG_CONFIG_DEVICES, and in a virtual machine with vGPU the hypervisor decides.',
    remedies: ({ situation }) =>
      // The prompt of root.
      /^(?:\[root@|root@)|^# nvidia-smi/m.test(situation().text)
        ? [
            step(
              'This is root already. In a container: give it the right to administer the system, and the devices of MIG.',
              `docker run --gpus all --cap-add SYS_ADMIN -e NVIDIA_MIG_CONFIG_DEVICES=all ${situation().subject.image ?? '<IMAGE>'}`,
            ),
            step('In a virtual machine with vGPU, change it on the hypervisor.'),
          ]
        : [step('Do it on the host as root.', 'sudo nvidia-smi mig -lgi')],
  },
  {
    kind: 'driver_not_loaded',
    pattern:
      /nvidia[\w-]{0,20}: (?:version magic '([^'\n]{3,80})' should be '([^'\n]{3,80})'|disagrees about version of symbol (\w{2,60})|Unknown symbol (\w{2,80}))/,
    title: 'The NVIDIA module does not fit the kernel',
    verdict: ({ match }) =>
      match[1] === undefined
        ? `The module needs ${match[3] ?? match[4]}, which the kernel or another module of the driver does not offer in that form: it was built for another kernel, or modules of two releases are mixed.`
        : `The module was built for kernel ${match[1].split(' ')[0]}, and ${match[2]?.split(' ')[0]} runs.`,
    remedies: ({ match }) => [
      step(
        'Build it for the kernel that runs, then load it.',
        `sudo ${/\.fc\d/.test(match[0]) ? 'akmods --force' : 'dkms autoinstall'} && sudo depmod -a && sudo modprobe nvidia && nvidia-smi`,
      ),
      step('See whether two releases of the driver are there.', 'find /lib/modules/$(uname -r) -name "nvidia*.ko*"; dkms status'),
    ],
  },
  {
    // NVIDIA's Kbuild checks it before it compiles.
    kind: 'driver_not_loaded',
    pattern: /The Module\.symvers file is missing|\bmodule_symvers_sanity_check\b/,
    title: "The kernel's headers are incomplete",
    verdict:
      'The headers of the kernel have no Module.symvers, so the NVIDIA module was not built: the headers package is missing, was installed in part, or is of another kernel than the one that runs.',
    remedies: [
      step(
        'Install the headers of exactly the kernel that runs, then build again.',
        'uname -r; ls -l /lib/modules/$(uname -r)/build/Module.symvers; sudo dkms autoinstall',
      ),
      step('After an update of the kernel boot the new one first.'),
    ],
  },
  {
    kind: 'driver_not_loaded',
    pattern: /\/var\/lib\/dkms\/nvidia\/(\d{3}[\d.]{0,10})\/build[^\n]{0,80}?(?:\.o)?\] Error \d/,
    title: 'Driver {1} cannot be built for this kernel',
    verdict: ({ match, text, at }) => {
      const kernel = /(?:kernel-headers-|linux-headers-|\/lib\/modules\/)(\d[\w.+-]{2,50})/.exec(around(text, at, 8, 8))?.[1]
      return `The compiler stopped in the kernel module of driver ${match[1]}${kernel === undefined ? '' : ` for kernel ${kernel}`}: most likely the driver is older than the kernel.`
    },
    remedies: [
      step('Read the first error.', 'grep -m 3 -E "error:|implicit" /var/lib/dkms/nvidia/{1}/build/make.log'),
      step(
        'Install a newer release of the driver, or boot a kernel that this one supports (of branches 470 and 390 only patched packages fit new kernels).',
        'uname -r; ls /boot/vmlinuz-*',
      ),
    ],
    unless: ({ text, at }) => /Bad return status|unrecognized command-line|module_symvers/.test(around(text, at, 10, 10)),
  },
  {
    kind: 'storage_error',
    pattern: /nfs: server (\S{2,80}) not responding, (still trying|timed out)/,
    title: 'The file server {1} does not answer',
    verdict: 'Programs that read or write on {1} wait for it in the kernel ({2}) and cannot be killed until it answers.',
    remedies: [
      step('See whether the server and the way to it work.', 'ping -c 3 {1}; showmount -e {1}'),
      step('See which processes wait.', "ps -eo pid,stat,wchan:32,args | awk '$2 ~ /^D/'"),
    ],
    severity: 'warning',
    unless: ({ match, text, at }) => text.slice(at + 1).some((line) => line.includes(`nfs: server ${match[1]} OK`)),
  },
  {
    kind: 'job_failed',
    pattern: /INFO: task (\S{1,60}):(\d{1,10}) blocked for more than (\d{1,6}) seconds/,
    title: '{1} hangs in the driver of the GPU',
    verdict: ({ match, text, at }) =>
      `${match[1]} (pid ${match[2]}) has waited in the kernel for over ${match[3]} s and cannot be killed: the trace is in the driver ${DRIVER.exec(around(text, at, 4, 40))?.[1] ?? ''}.`,
    remedies: [
      step('See whether the driver reported a fault of the GPU before.', "sudo dmesg -T | grep -E 'NVRM|Xid|amdgpu' | tail -n 30; nvidia-smi"),
      IN_KERNEL,
      step('If it does not end, only a reboot frees the GPU.'),
    ],
    severity: 'warning',
    unless: ({ text, at }) => !DRIVER.test(around(text, at, 4, 40)),
  },
  {
    kind: 'job_failed',
    pattern: /INFO: task (\S{1,60}):(\d{1,10}) blocked for more than (\d{1,6}) seconds/,
    title: '{1} hangs in the kernel',
    verdict:
      '{1} (pid {2}) has waited in the kernel for over {3} s and cannot be killed. Its trace names no disk and no file system: mostly a driver hangs, or a task that holds a lock.',
    remedies: [
      IN_KERNEL,
      step('See which tasks hang, and in which driver: the names in brackets in their traces.', 'sudo dmesg -T | grep -A 25 "blocked for more"'),
    ],
    severity: 'warning',
    unless: ({ text, at }) => !/Call Trace:/.test(around(text, at, 0, 8)) || STORAGE.test(around(text, at, 4, 40)),
  },
  {
    kind: 'storage_error',
    pattern: /INFO: task (\S{1,60}):(\d{1,10}) blocked for more than (\d{1,6}) seconds/,
    title: '{1} hangs in the kernel',
    verdict: ({ match, text, at }) => {
      const fs = /\b(nfs|lustre|ceph|fuse|ext4|xfs|btrfs|zfs|gpfs|beegfs)\w{0,4}[_\]]|nfs: server/.exec(around(text, at, 4, 40))?.[1]
      return `${match[1]} (pid ${match[2]}) has waited in the kernel for over ${match[3]} s and cannot be killed: ${fs === undefined ? 'mostly storage does not answer' : `the trace points to the file system (${fs})`}.`
    },
    remedies: [
      step('See whether storage answers: a server, a disk, a full file system.', "sudo dmesg -T | grep -iE 'nfs|lustre|ceph|I/O error|nvme' | tail; df -h"),
      IN_KERNEL,
    ],
    severity: 'warning',
  },
  {
    kind: 'job_failed',
    pattern: /BUG: soft lockup - CPU#(\d{1,4}) stuck for (\d{1,6})s! \[([^\]\n]{2,60})\]/,
    title: 'A CPU hangs in the kernel',
    verdict: 'CPU {1} did nothing else for {2} s than run {3} in the kernel: a bug of a driver or the kernel, or in a virtual machine an overloaded host.',
    remedies: [
      step('See which function: the trace is below it.', "sudo dmesg -T | grep -A 25 'soft lockup' | tail -n 60"),
      step('In a virtual machine see how much CPU time the host takes away (st).', 'vmstat 1 5'),
      step('If it comes back: update kernel, driver and firmware.'),
    ],
    severity: 'warning',
  },
  {
    kind: 'config_error',
    pattern:
      /(cuda[\w.-]{0,40}|lib(?:cud|nv)\w[\w.-]{0,40}|nvidia-[\w.-]{2,40}|rocm[\w.-]{0,40}|amdgpu[\w.-]{0,40}) : (?:Pre)?Depends: ([\w.+-]{2,60})(?: \((?:=|>=|<=|>>|<<) ?([\w.:+~-]{3,60})\))? but (?:([\w.:+~-]{3,60}) is to be installed|it is not (?:going to be installed|installable))/,
    title: 'The packages do not fit together',
    verdict: ({ match }) =>
      `${match[1]} needs ${match[2]}${match[3] === undefined ? '' : ` ${match[3]}`}${match[4] === undefined ? ', which apt will not install' : `, and apt would install ${match[4]}`}: packages of two repositories (the distribution's and NVIDIA's or AMD's) are mixed, one is held back, or the repository is for another release of the system. Nothing was installed.`,
    remedies: [
      step('See from which repository each version comes, and what is held.', 'apt-cache policy {1} {2}; apt-mark showhold; cat /etc/os-release | head -n 2'),
      step(
        "Take all of it from one repository, made for this release of the system: disable the other (NVIDIA's or AMD's), or prefer it for all its packages in /etc/apt/preferences.d.",
        'grep -rlE "nvidia|cuda|rocm|amdgpu" /etc/apt/sources.list.d /etc/apt/preferences.d',
      ),
    ],
  },
  {
    kind: 'gpu_not_visible',
    pattern: /RuntimeError: UR error\b|Native API failed\. Native API returns: -999 \(Unknown PI error\)|[Nn]ative API returns: 2147483646/,
    title: "Intel's GPU runtime failed without a reason",
    verdict:
      'The runtime of the Intel GPU reports an error without a name: mostly its compute driver is too old, or libraries of another oneAPI are loaded than PyTorch brings.',
    remedies: [
      step(
        'PyTorch for XPU brings its own runtime: start it in a shell in which setvars.sh was not sourced.',
        'env | grep -iE "oneapi|LD_LIBRARY_PATH"; sycl-ls',
      ),
      step('Update the compute driver (intel-level-zero-gpu or libze-intel-gpu1, intel-opencl-icd; on Windows the graphics driver) and the kernel.'),
      step('See whether the GPU works at all.', 'python -c "import torch; print(torch.xpu.is_available()); print(torch.ones(2, device=\'xpu\') * 2)"'),
    ],
  },
  {
    kind: 'gpu_not_visible',
    pattern: /amdgpu devices detected but permission problems block access|[Kk]fd driver not loaded\./,
    title: 'ROCm may not open the GPU',
    verdict: ({ match }) =>
      /not loaded/.test(match[0])
        ? 'Ollama found no /dev/kfd: the driver is not loaded, or the container was not given the device. It computes on the CPU.'
        : 'Ollama may not open /dev/kfd: its user is not in the group that owns it (render). It computes on the CPU.',
    remedies: [
      step(
        'Add the user of the service to the groups, then restart it.',
        'sudo usermod -aG render,video ollama; sudo systemctl restart ollama; ls -l /dev/kfd /dev/dri',
      ),
      step('In a container pass both devices.', 'docker run --device /dev/kfd --device /dev/dri ollama/ollama:rocm'),
    ],
  },
]

export const hostRefused = rowFamily(
  'host-refused',
  [
    'The following GPUs could not be reset',
    ' is currently in use by ',
    'inotify watch limit',
    'inotify instance limit',
    'not supported in kfd',
    'MIG mode is in pending ',
    'instances: Insufficient ',
    ': Insufficient Resources',
    ': Insufficient Permissions',
    ': version magic ',
    'disagrees about version of symbol',
    ': Unknown symbol ',
    '/var/lib/dkms/nvidia/',
    'not responding, still trying',
    'not responding, timed out',
    ' blocked for more than ',
    'BUG: soft lockup',
    'is to be installed',
    'is not going to be installed',
    'is not installable',
    'RuntimeError: UR error',
    'Native API failed. Native API returns',
    'permission problems block access',
    'kfd driver not loaded',
  ],
  ROWS,
)
