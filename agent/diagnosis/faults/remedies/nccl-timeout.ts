// What helps when ranks waited for others in vain: NCCL's watchdog.
import { twoUnitSpan } from '../../../text/span.ts'
import type { Matched } from '../parts/rules.ts'
import { setVariables } from './environment.ts'
import type { Piece } from './plan.ts'

const LAGGING = /lagging\/dead\/mismatched ranks[^]{0,80}?\[(\d{1,6})\] finished collective #(\d{1,9}), but didn't join collective #(\d{1,9})/

const HEARTBEAT = /watchdog got stuck|[Hh]eartbeat monitor timed out/

/** Ranks wait at the same collective; one whose number is lower has not come so far. */
function behind(text: string): { readonly rank: string; readonly at: number; readonly others: number } | undefined {
  const last = new Map<string, number>()
  for (const [, rank, number] of text.matchAll(/\[Rank (\d{1,6})\] Watchdog caught collective operation timeout: WorkNCCL\(SeqNum=(\d{1,12})/g))
    if (rank !== undefined) last.set(rank, Math.max(last.get(rank) ?? 0, Number(number)))
  const [lowest, ...others] = [...last].sort((a, b) => a[1] - b[1])
  const next = others[0]
  return lowest === undefined || next === undefined || next[1] === lowest[1] ? undefined : { rank: lowest[0], at: lowest[1], others: next[1] }
}

/** Of one process group the collectives count alike on all ranks: the same number names the same call. */
export function mismatch(text: string): { readonly number: string; readonly said: string } | undefined {
  const groups = new Set([...text.matchAll(/\[PG (?:ID )?(\d{1,6})/g)].map((match) => match[1]))
  if (groups.size > 1) return undefined
  const calls = new Map<string, Map<string, string>>()
  for (const [, rank = '', number = '', operation = ''] of text.matchAll(
    /\[Rank (\d{1,6})\] Watchdog caught collective operation timeout: WorkNCCL\(SeqNum=(\d{1,12}), OpType=(\w{2,24})/g,
  )) {
    const same = calls.get(number) ?? new Map<string, string>()
    calls.set(number, same.has(operation) ? same : same.set(operation, rank))
  }
  const [number, different] = [...calls].find(([, operations]) => operations.size > 1) ?? []
  return number === undefined || different === undefined
    ? undefined
    : { number, said: [...different].map(([operation, rank]) => `rank ${rank} in ${operation}`).join(', ') }
}

export function timeout({ facts, situation, message }: Matched): readonly Piece[] {
  const at = situation()
  const late = behind(at.text)
  const lagging = LAGGING.exec(at.text)
  const limit = facts.timeout_ms
  const minutes = limit === undefined ? undefined : Math.max(Math.ceil((2 * limit) / 60_000), 10)
  const recorder = /FlightRecorder is disabled|TRACE_BUFFER_SIZE|FR_BUFFER_SIZE/.test(at.text)
  // The older name is still read by PyTorch 2.13 (FlightRecorder.hpp); from 2.11 on it records without it. https://github.com/pytorch/pytorch/pull/152563
  const buffer = at.text.includes('TORCH_FR_BUFFER_SIZE') ? 'TORCH_FR_BUFFER_SIZE' : 'TORCH_NCCL_TRACE_BUFFER_SIZE'
  // partitioned_param_coordinator.py: the order of modules differs from the step before, which gathers other parameters than other ranks do.
  const [, expected, got] = /Invalidate trace cache @ step \d{1,9}: expected module (\d{1,6}), but got module (\d{1,6})/.exec(at.text) ?? []
  return [
    expected !== undefined &&
      /ALLGATHER/.test(message) && {
        text: `ZeRO-3 saw the modules run in another order (module ${got} for ${expected}): where ranks run different ones, as experts of a mixture, they gather different weights and wait for each other. Name such blocks before deepspeed.initialize: deepspeed.utils.set_z3_leaf_modules(model, [<EXPERT_BLOCK_CLASS>]).`,
      },
    mismatch(at.text) !== undefined && {
      text: 'Find where the ranks take different ways: a branch on the rank or on the data, one rank that saves, logs or evaluates alone, data of unequal length.',
    },
    late !== undefined && lagging === null
      ? {
          text: `Look at rank ${late.rank} first: it waits in collective ${late.at}, the others are at ${late.others} or further, so it fell behind or took another path.`,
        }
      : lagging === null
        ? {
            text: `Find the rank that stopped, died or printed the first error: ${facts.rank === undefined ? 'the rank that waits' : `rank ${facts.rank}, which waited,`} is rarely the cause.`,
          }
        : { text: `Look at rank ${lagging[1]} first: it finished collective #${lagging[2]} and never joined #${lagging[3]}.` },
    // Messages without NumelIn are of PyTorch before 2.1, the recorder came with 2.2.
    /WorkNCCL\((?![^)]{0,80}Numel)[^)]{0,80}OpType/.test(at.text)
      ? {
          text: 'Let PyTorch check that all ranks call the same collectives (slower).',
          command: setVariables(at, { TORCH_DISTRIBUTED_DEBUG: 'DETAIL' }),
        }
      : {
          text: `Let every rank record which collective it is in (Flight Recorder${recorder ? ', which is off here' : ''}), then compare the dumps.`,
          command: setVariables(at, { [buffer]: '2000', TORCH_NCCL_DUMP_ON_TIMEOUT: '1' }),
        },
    // NCCL user guide, troubleshooting: with PCI ACS or an IOMMU in the way, GPUs that send to each other directly hang.
    /WorkNCCL\(SeqNum=1,/.test(message) && {
      text: 'If all ranks wait in this first collective: see on which path NCCL hangs; many hosts with an IOMMU or PCI ACS go on without direct access between GPUs.',
      command: setVariables(at, { NCCL_DEBUG: 'INFO', NCCL_P2P_DISABLE: '1' }),
    },
    // torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp: a limit of its own, 480 s by default.
    limit === undefined &&
      HEARTBEAT.test(message) && {
        text: "If nothing hangs, and one step only takes so long: raise the heartbeat monitor's own limit, which is not that of init_process_group.",
        command: setVariables(at, { TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC: '1800' }),
      },
    !(limit === undefined && HEARTBEAT.test(message)) &&
      (limit ?? 0) <= 3_600_000 && {
        text:
          limit === undefined
            ? 'If one step really needs longer (checkpoint, download, compilation): raise the timeout of init_process_group.'
            : `If one step really needs longer than ${twoUnitSpan(limit)} (checkpoint, download, compilation): raise the timeout: init_process_group(…, timeout=timedelta(minutes=${minutes})).`,
      },
  ]
}
