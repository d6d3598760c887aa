// XLA (JAX, TensorFlow) ended the process: not all of its threads came to a collective operation in time.
// Words and exit code: openxla/xla, xla/service/rendezvous.cc. A line that only says "may be stuck" is no fault: often all goes on.
import type { Facts } from '../../model/facts.ts'
import { ruleFamily, type Matched, type Seen } from './parts/rules.ts'
import { known, whole } from './parts/window.ts'
import { xidsBeside } from './remedies/debug.ts'
import { whoHolds } from './remedies/gpu.ts'
import type { Piece } from './remedies/plan.ts'

const secondsOf = ({ match }: Pick<Seen, 'match'>): number | undefined => whole(match[2])
const facts = (seen: Seen): Facts => {
  const seconds = secondsOf(seen)
  return known({ timeout_ms: seconds === undefined ? undefined : seconds * 1000 })
}
const place = ({ match }: Pick<Seen, 'match'>): string => (match[1] ?? '').split(/[;{(]/)[0]?.trim().slice(0, 60) ?? ''

function verdict(seen: Matched): string {
  const { match, message } = seen
  const counts = /Expected (\d{1,5}) threads to join the rendezvous, but (?:only (\d{1,5})|not all) of them/.exec(message.slice(match.index))
  const who =
    counts === null
      ? 'its threads did not all come'
      : counts[2] === undefined
        ? `not all of its ${counts[1]} threads came`
        : `only ${counts[2]} of its ${counts[1]} threads came`
  const led = /All (\d{1,5}) threads joined the rendezvous, however the leader/.exec(message.slice(match.index))
  return `XLA ended the process: at "${place(seen)}" ${led === null ? who : `all ${led[1]} threads came, but the one that leads them did not go on`} within ${secondsOf(seen)} s. One of its devices (a thread each) is stuck, slower than the rest, or failed before.`
}

function remedies(seen: Matched): readonly Piece[] {
  const now = seen.situation()
  const seconds = secondsOf(seen) ?? 40
  const flag = place(seen).startsWith('first call') ? 'xla_gpu_first_collective_call_terminate_timeout_seconds' : 'xla_gpu_executable_terminate_timeout_seconds'
  return [
    { text: 'Look for the first error above this one: a thread that failed (out of memory, an XLA or CUDA error) never joins the others.' },
    whoHolds(now),
    {
      text: `If the first step really takes longer than ${seconds} s (large programs, slow compilation or NCCL set-up): give it more time.`,
      command: `export XLA_FLAGS="$XLA_FLAGS --${flag}=${Math.max(seconds * 10, 300)}"`,
    },
    place(seen).includes('RendezvousKey') && {
      text: 'On simulated devices of a CPU, a loop that never waits for a result fills the pool of threads: wait once a step.',
      command: 'jax.block_until_ready(loss)',
    },
    now.vendor !== 'amd' && xidsBeside,
  ]
}

export const xlaRendezvous = ruleFamily({
  id: 'xla-rendezvous',
  kind: 'nccl_error',
  literals: ['Termination timeout for `'],
  facts,
  rules: [
    {
      pattern: /Termination timeout for `([^`\n]{1,400})` of (\d{1,6}) seconds\s{1,3}exceeded/,
      severity: 'critical',
      title: 'XLA waited too long for a device',
      verdict,
      remedies,
    },
  ],
})
