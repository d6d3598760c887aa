// The last look at all remedies of a fault: none asks for tools that the system or the GPU's vendor shown by the text does not have.
import type { Remedy } from '../../../model/fault.ts'
import type { LogKind } from '../../../model/kinds.ts'
import type { Situation } from '../../situation/situation.ts'

const OF_LINUX =
  /^export |\bLD_(?:LIBRARY_PATH|PRELOAD)\b|\bsudo\b|\bdmesg\b|\bjournalctl\b|\bsystemctl\b|\bldconfig\b|\bls(?:mod|pci)\b|\/(?:dev|proc|sys|etc|usr|var|lib|tmp)\/|\bfree -|\bulimit\b|\bsysctl\b|\bprintenv\b|\benv \||\bps -|\bd[fu] -|(?<!-)\brm -|\bgrep\b|\bss -|\bchmod\b|\bapt(?:-get)?\b|\bnvidia-bug-report|\bdcgmi\b|\brocm-smi\b|\brocminfo\b|\bamd-smi\b|\bxpu-smi\b/m
/** WSL 2 has Linux's tools; driver, reset and bus belong to Windows. */
const OF_LINUX_DRIVER = /\bmodprobe\b|\bdkms\b|--gpu-reset|\bnvidia-bug-report|\blspci\b|\bdcgmi\b|update-initramfs|linux-headers|\bmokutil\b/
const OF_NVIDIA = /\bnvidia-(?:smi|ctk|bug-report|modprobe)\b|\bdcgmi\b|\bcompute-sanitizer\b|whl\/cu\d|CUDA_LAUNCH_BLOCKING/

/** Faults of NVIDIA's own driver and software, on a host that may have another card too. */
const NVIDIA_KINDS: ReadonlySet<LogKind> = new Set<LogKind>([
  'xid',
  'gpu_lost',
  'ecc_error',
  'nvlink_errors',
  'fabric_manager',
  'vgpu_license',
  'driver_not_loaded',
  'nvml_driver_mismatch',
  'nvml_unknown_error',
  'nvml_allocator_assert',
])

/** NVIDIA's boards with the GPU beside the CPU: JetPack brings the driver, DCGM and resets are for cards. */
const OF_CARDS = /\bdcgmi\b|\bdkms\b|--gpu-reset|\blspci\b|\bnvidia-bug-report/

/** Patterns of what cannot be followed here. */
function unfit({ system, vendor, jetson }: Situation, kind: LogKind): readonly RegExp[] {
  const foreign = (vendor === 'amd' || vendor === 'intel' || vendor === 'apple') && !NVIDIA_KINDS.has(kind) ? [OF_NVIDIA] : []
  if (system === 'windows') return [OF_LINUX, ...foreign]
  if (system === 'wsl') return [OF_LINUX_DRIVER, ...foreign]
  return jetson ? [OF_CARDS, ...foreign] : foreign
}

/** `export A=1 B=2` in the words of cmd. */
const ofCmd = (command: string): string =>
  command.replace(/^export ((?:[A-Za-z]\w*=[^\s"$]+ ?)+)$/gm, (_, pairs: string) =>
    pairs
      .trim()
      .split(' ')
      .map((pair) => `set ${pair}`)
      .join('\n'),
  )

const DOCKER = /\bdocker (run|update|inspect|logs|exec)\b/g
/** The same for who really starts containers here: podman takes Docker's options; where only Slurm or Kubernetes speaks, nobody types them. */
function ofEngine(command: string, { programs }: Situation): string | undefined {
  if (programs.has('docker') || programs.has('compose') || !command.includes('docker ')) return command
  if (programs.has('podman')) return command.replace(DOCKER, 'podman $1').replace('--gpus all', '--device nvidia.com/gpu=all')
  return (programs.has('slurm') || programs.has('kubernetes')) && /\bdocker (?:run|update)\b/.test(command) ? undefined : command
}

/** Those that cannot be followed here are left out; where none would be left, their sentences stay without the command. */
export function fitting(remedies: readonly Remedy[], kind: LogKind, situation: Situation): readonly Remedy[] {
  const windows = situation.system === 'windows'
  const all = remedies.map((remedy) => {
    if (remedy.command === undefined) return remedy
    const command = ofEngine(windows ? ofCmd(remedy.command) : remedy.command, situation)
    return command === remedy.command ? remedy : command === undefined ? { text: remedy.text } : { text: remedy.text, command }
  })
  const patterns = unfit(situation, kind)
  const kept = all.filter(({ command }) => command === undefined || !patterns.some((pattern) => pattern.test(command)))
  return kept.length > 0 ? kept : all.map(({ text }) => ({ text }))
}
