// Xid 154: the driver says in words which recovery it asks for. Values as NVML's field 230 has them.
import type { Remedy } from '../../model/fault.ts'
import type { Severity } from '../../model/severity.ts'

export type Recovery = { readonly to: string; readonly severity: Severity; readonly remedy: Remedy }

const KNOWN: readonly (readonly [pattern: RegExp, severity: Severity, remedy: Remedy])[] = [
  [/^none$/i, 'info', { text: 'Nothing to do any more: the driver holds the GPU for repaired.' }],
  [
    /drain and reset/i,
    'critical',
    { text: 'Let the running work end, give the GPU no new one, then reset it.', command: 'sudo nvidia-smi --gpu-reset -i GPU' },
  ],
  [/drain p2p/i, 'critical', { text: 'Stop the programs that use peer-to-peer access with this GPU; then it recovers by itself.' }],
  [/imex/i, 'critical', { text: 'Bring the IMEX domain back: restart its service on the nodes concerned.', command: 'sudo systemctl restart nvidia-imex' }],
  [/node reboot|system reboot/i, 'critical', { text: 'Drain the machine and reboot it.', command: 'sudo reboot' }],
  [/reset/i, 'critical', { text: 'Stop the work on this GPU and reset it.', command: 'sudo nvidia-smi --gpu-reset -i GPU' }],
]
const CHANGED = /recovery action changed from 0x[0-9a-fA-F]{1,8} \([^)]{0,40}\) to 0x[0-9a-fA-F]{1,8} \(([^)]{1,40})\)/i

export function recoveryIn(message: string): Recovery | undefined {
  const to = CHANGED.exec(message)?.[1]
  if (to === undefined) return undefined
  const found = KNOWN.find(([pattern]) => pattern.test(to))
  return { to, severity: found?.[1] ?? 'warning', remedy: found?.[2] ?? { text: `Do what the driver asks for: ${to}.` } }
}

/** The values of NVML's field (NVML_GPU_RECOVERY_ACTION_*) in the words of the kernel's line. */
const NUMBERED = ['None', 'GPU Reset', 'Node Reboot', 'Drain P2P', 'Drain and Reset', 'Recover IMEX domain', 'Bus Reset', 'System Reboot'] as const

export function recoveryNumbered(action: number): Recovery {
  const to = NUMBERED[action] ?? `action ${action}`
  const found = KNOWN.find(([pattern]) => pattern.test(to))
  return {
    to,
    severity: found?.[1] ?? 'critical',
    remedy: found?.[2] ?? { text: 'Do what the driver asks for.', command: 'nvidia-smi -q -i GPU | grep -i "recovery action"' },
  }
}
