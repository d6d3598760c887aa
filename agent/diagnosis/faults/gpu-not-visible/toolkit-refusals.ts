// What the NVIDIA container toolkit refuses for one known reason.
import type { Piece } from '../remedies/plan.ts'

/** Refusals with one known reason. */
const REFUSALS: readonly { readonly pattern: RegExp; readonly says: string; readonly remedies: readonly Piece[] }[] = [
  {
    pattern: /cgroup subsystem devices not found/,
    says: ' The host has cgroup v2, which this toolkit is too old for.',
    remedies: [
      {
        text: 'Update the NVIDIA Container Toolkit: libnvidia-container knows cgroup v2 from 1.8 on.',
        command: 'nvidia-container-cli --version; stat -fc %T /sys/fs/cgroup',
      },
    ],
  },
  {
    pattern: /BPF_CGROUP_DEVICE\) failed: operation not permitted|devices\.allow: permission denied|bpf_prog_query.{0,60}not permitted/,
    says: ' It may not set device rules of cgroups: the engine runs rootless or in an LXC container.',
    remedies: [
      {
        text: 'In a rootless engine or an LXC container only: let the toolkit leave cgroups alone. Rootless Docker also needs its runtime entered for the user.',
        command: 'sudo nvidia-ctk config --set nvidia-container-cli.no-cgroups --in-place',
      },
      { text: 'In LXC, also let the host pass the device files of the GPU into the LXC container.', command: 'ls -l /dev/nvidia*' },
    ],
  },
  {
    // libnvidia-container #176: filters that the kernel has hardened cannot be read back; #209: no permission to load any.
    pattern: /unable to (?:generate|create) new device filters? program/,
    says: ' It could not extend the device filter (eBPF) that the engine had set for the container: the kernel hides hardened filters (net.core.bpf_jit_harden), or does not let it load one.',
    remedies: [
      {
        text: 'See whether hardening is on (1 or 2): with 0 the filter can be read. It weakens a protection of the kernel for all programs.',
        command: 'sysctl net.core.bpf_jit_harden; uname -r',
      },
      {
        text: 'Or let the engine make the devices known itself, by CDI: then the toolkit touches no filter.',
        command: 'sudo nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml && docker run --device nvidia.com/gpu=all <IMAGE>',
      },
      { text: 'Update the NVIDIA Container Toolkit.', command: 'nvidia-container-cli --version' },
    ],
  },
  {
    pattern: /file creation failed: [^\n]{1,200}: file exists/,
    says: " The image brings a file of the driver itself, where the toolkit wants to mount the host's.",
    remedies: [
      {
        text: "Take the driver's libraries out of the image (packages libnvidia-* and nvidia-*, files libcuda.so and libnvidia-*): it was built or committed with the driver in it.",
      },
    ],
  },
  {
    // internal/config of the toolkit: "@" is a path of the host. Ubuntu's /sbin/ldconfig is a script; the program behind it is ldconfig.real.
    pattern: /ldcache error: process \/\S{1,80} failed with error code: \d/,
    says: " It runs the host's ldconfig for the container, and that failed (127: it was not found, or a library of its own was not).",
    remedies: [
      {
        text: 'Let its setting ldconfig name the program of this host: "@/sbin/ldconfig.real" on Ubuntu, "@/sbin/ldconfig" elsewhere.',
        command: 'ls -l /sbin/ldconfig /sbin/ldconfig.real; grep -n ldconfig /etc/nvidia-container-runtime/config.toml',
      },
      { text: 'If that is right: see what it says on the host itself.', command: 'sudo ldconfig; echo $?' },
    ],
  },
  {
    pattern: /mount error: [^]{0,200}\/dev\/nvidia\d{1,3}: no such device or address/,
    says: ' The device file is there, but the driver has no GPU behind it: it went off the bus, or the driver could not start it.',
    remedies: [
      { text: 'See on that node which GPUs answer, and what the kernel logged.', command: "nvidia-smi -L; sudo dmesg | grep -iE 'NVRM|Xid' | tail" },
      { text: 'Give the node no new work until they all answer again; a GPU that is lost comes back with a reboot only.' },
    ],
  },
]
export const refusal = (message: string) => REFUSALS.find(({ pattern }) => pattern.test(message))
