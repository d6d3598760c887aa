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

function unfit({ system, vendor }: Situation, kind: LogKind): RegExp | undefined {
  if (system === 'windows') return OF_LINUX
  if (system === 'wsl') return OF_LINUX_DRIVER
  return (vendor === 'amd' || vendor === 'intel' || vendor === 'apple') && !NVIDIA_KINDS.has(kind) ? OF_NVIDIA : undefined
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

/** Those that cannot be followed here are left out; where none would be left, their sentences stay without the command. */
export function fitting(remedies: readonly Remedy[], kind: LogKind, situation: Situation): readonly Remedy[] {
  const pattern = unfit(situation, kind)
  if (pattern === undefined) return remedies
  const windows = situation.system === 'windows'
  const all = windows ? remedies.map(({ text, command }) => (command === undefined ? { text } : { text, command: ofCmd(command) })) : remedies
  const kept = all.filter(({ command }) => command === undefined || !pattern.test(command))
  return kept.length > 0 ? kept : all.map(({ text }) => ({ text }))
}
