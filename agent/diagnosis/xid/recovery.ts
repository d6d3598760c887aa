// Xid 154: the driver says in words which recovery it asks for. Values as NVML's field 230 has them.
import type { Facts } from '../../model/facts.ts'
import { gpuOf, REBOOT, resetGpu } from '../faults/remedies/gpu.ts'
import type { Advice } from '../faults/remedies/plan.ts'
import type { Severity } from '../../model/severity.ts'

export type Recovery = { readonly to: string; readonly severity: Severity; readonly remedy: (facts: Facts) => Advice }

const NOTHING: Advice = { text: 'Nothing more to do: the driver reports the GPU as recovered.' }
const PEERS: Advice = { text: 'Stop the programs that use peer-to-peer access with this GPU; then it recovers by itself.' }
const IMEX: Advice = { text: 'Bring the IMEX domain back: restart its service on the nodes concerned.', command: 'sudo systemctl restart nvidia-imex' }

const KNOWN: readonly (readonly [pattern: RegExp, severity: Severity, remedy: (facts: Facts) => Advice])[] = [
  [/^none$/i, 'info', () => NOTHING],
  [/drain and reset/i, 'critical', (facts) => resetGpu(facts, 'Let the running work end first and give it no new one: a reset stops what still runs')],
  [/drain p2p/i, 'critical', () => PEERS],
  [/imex/i, 'critical', () => IMEX],
  [/reboot/i, 'critical', () => REBOOT],
  [/reset/i, 'critical', (facts) => resetGpu(facts)],
]
const knownBy = (words: string | undefined): (typeof KNOWN)[number] | undefined =>
  words === undefined ? undefined : KNOWN.find(([pattern]) => pattern.test(words))

const CHANGED = /recovery action changed {1,3}from 0x[0-9a-fA-F]{1,8} \([^)]{0,40}\) to 0x([0-9a-fA-F]{1,8})(?: {1,3}\(([^)]{1,40})\))?/i

export function recoveryIn(message: string): Recovery | undefined {
  const [, number, words] = CHANGED.exec(message) ?? []
  if (number === undefined) return undefined
  // Drivers since 595 have other words for the same numbers: PF FLR (a reset of the function) for 1, OS Reboot for 2.
  // https://github.com/NVIDIA/open-gpu-kernel-modules/issues/1353
  const meant = knownBy(words) === undefined ? NUMBERED[Number.parseInt(number, 16)] : undefined
  const to = meant === undefined ? (words ?? `action ${number}`) : words === undefined ? meant : `${meant} (${words})`
  const found = knownBy(meant ?? words)
  return { to, severity: found?.[1] ?? 'warning', remedy: found?.[2] ?? (() => ({ text: `Do what the driver asks for: ${to}.` })) }
}

/** The values of NVML's field (NVML_GPU_RECOVERY_ACTION_*) in the words of the kernel's line. */
const NUMBERED = ['None', 'GPU Reset', 'Node Reboot', 'Drain P2P', 'Drain and Reset', 'Recover IMEX domain', 'Bus Reset', 'System Reboot'] as const

export function recoveryNumbered(action: number): Recovery {
  const to = NUMBERED[action] ?? `action ${action}`
  const found = knownBy(to)
  return {
    to,
    severity: found?.[1] ?? 'critical',
    remedy:
      found?.[2] ??
      ((facts) => ({ text: 'See what the driver asks for, and do it.', command: `nvidia-smi -q -i ${gpuOf(facts)} | grep -i "recovery action"` })),
  }
}
