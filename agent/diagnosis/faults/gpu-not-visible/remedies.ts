// What to do when a program sees no GPU, by who says so.
import type { Remedy } from '../../../model/fault.ts'

export const TOOLKIT: readonly Remedy[] = [
  {
    text: 'Install the NVIDIA Container Toolkit and enter it at the engine.',
    command: 'sudo apt-get install -y nvidia-container-toolkit && sudo nvidia-ctk runtime configure --runtime=docker && sudo systemctl restart docker',
  },
  { text: 'See that the host itself has a working driver.', command: 'nvidia-smi' },
  { text: 'Try it.', command: 'docker run --rm --gpus all ubuntu nvidia-smi' },
]
export const CDI: readonly Remedy[] = [
  {
    text: 'Write the CDI description of the GPUs anew: it is missing, or older than the driver.',
    command: 'sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml && nvidia-ctk cdi list',
  },
  { text: 'Use a name that the list holds.', command: 'docker run --rm --device nvidia.com/gpu=all ubuntu nvidia-smi' },
]
export const HOOK: readonly Remedy[] = [
  { text: 'See that the driver works on the host: the toolkit needs it first.', command: 'nvidia-smi' },
  { text: 'See what the toolkit finds.', command: 'nvidia-container-cli -k -d /dev/tty info' },
  { text: 'Check the names of the requested GPUs (index or UUID) against those of the host.', command: 'nvidia-smi -L' },
]
export const DRIVER: readonly Remedy[] = [
  { text: 'See whether the kernel module is loaded, and why not.', command: "lsmod | grep nvidia; sudo dmesg | grep -iE 'nvrm|nvidia|nouveau' | tail -n 30" },
  { text: 'Load it; after a kernel update let it be built for the new kernel first.', command: 'sudo dkms autoinstall && sudo modprobe nvidia && nvidia-smi' },
  { text: 'With Secure Boot, an unsigned module is refused: enrol its key or switch Secure Boot off.', command: 'mokutil --sb-state' },
]
export const WSL: readonly Remedy[] = [
  { text: 'Update the NVIDIA driver in Windows and WSL itself, then restart WSL (in PowerShell).', command: 'wsl --update; wsl --shutdown' },
  {
    text: 'Install no Linux NVIDIA driver inside WSL: it hides the one in /usr/lib/wsl/lib.',
    command: 'ls -l /dev/dxg /usr/lib/wsl/lib/nvidia-smi && /usr/lib/wsl/lib/nvidia-smi',
  },
]
export const PROGRAM: readonly Remedy[] = [
  { text: 'See whether the place where it runs has a GPU at all.', command: 'nvidia-smi -L; ls -l /dev/nvidia*' },
  {
    text: 'See what the program was allowed to see: an empty or wrong value hides all GPUs.',
    command: "env | grep -E 'CUDA_VISIBLE_DEVICES|NVIDIA_VISIBLE_DEVICES'",
  },
  {
    text: 'In a container: request the GPU.',
    command: 'docker run --gpus all …   (compose: deploy.resources.reservations.devices; Kubernetes: limits: nvidia.com/gpu: 1)',
  },
]
export const BUILD: readonly Remedy[] = [
  {
    text: 'Install the build with CUDA; the one that is installed is for the CPU only.',
    command: 'pip install --force-reinstall torch --index-url https://download.pytorch.org/whl/cu128',
  },
  { text: 'See which one it is.', command: 'python -c "import torch; print(torch.__version__, torch.version.cuda)"' },
]
export const FABRIC: readonly Remedy[] = [
  {
    text: 'On machines with NVSwitch the Fabric Manager must run, in exactly the version of the driver.',
    command: 'sudo systemctl enable --now nvidia-fabricmanager; systemctl status nvidia-fabricmanager; nvidia-smi -q | grep -A3 -i fabric',
  },
  { text: 'See that its version is that of the driver.', command: 'nv-fabricmanager --version; cat /proc/driver/nvidia/version' },
]
export const BUSY: readonly Remedy[] = [
  {
    text: 'See who holds the GPU, and whether it allows one process only.',
    command: 'nvidia-smi --query-gpu=index,compute_mode --format=csv; nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv',
  },
  { text: 'Allow several processes.', command: 'sudo nvidia-smi -c DEFAULT' },
]
export const PERMISSION: readonly Remedy[] = [
  { text: 'See who may open the device files; the user may need the group that owns them.', command: 'ls -l /dev/nvidia*; id' },
  { text: 'In a container without the toolkit pass the device files, and run it with the group.', command: 'docker run --gpus all …' },
]
