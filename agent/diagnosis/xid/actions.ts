// What to do about an Xid, by the class of its action, for the GPU and the process that the line names.
import type { Facts } from '../../model/facts.ts'
import { BUG_REPORT, diagnose, gpuOf, kernelLines, REBOOT, resetGpu, RESTART, theGpu } from '../faults/remedies/gpu.ts'
import { asleepFirst, STAY_AWAKE } from '../faults/parts/pcie.ts'
import { setVariables } from '../faults/remedies/environment.ts'
import type { Advice, Piece } from '../faults/remedies/plan.ts'
import { readSituation, type Situation } from '../situation/situation.ts'
import type { XidAction } from './entry.ts'

const NOTHING_KNOWN = readSituation('')

const program = ({ process, pid }: Facts): string => (process === undefined ? 'the program' : pid === undefined ? process : `${process} (pid ${pid})`)

/** They compute on game cards too. */
const COMPUTES = /^(?:python|pt_main|ray::|vllm|sglang|llama|ollama|koboldcpp|whisper|julia|matlab|gmx|namd|lmp)/i
const findFault = (facts: Facts, situation: Situation): Piece =>
  situation.gaming && !COMPUTES.test(facts.process ?? '')
    ? { text: `Restart ${program(facts)}. If it fails in the same place again, update it and the driver.` }
    : {
        text: `Look for the fault in ${program(facts)}: run it again with synchronous launches, so that its stack shows the failing call (compute-sanitizer names the kernel and the address).`,
        command: setVariables(situation, { CUDA_LAUNCH_BLOCKING: '1' }),
      }
const afterwards = (advice: Advice | undefined): Piece => advice && { ...advice, follows: true }
const test = (facts: Facts, situation: Situation): Piece => diagnose(facts, situation, `If different programs fail on ${theGpu(facts)}, test it.`)
const drain = (facts: Facts, situation: Situation): Piece => ({
  text: `Give ${theGpu(facts)} no new work and let the rest end.`,
  ...(situation.programs.has('kubernetes') ? { command: 'kubectl cordon <NODE>' } : {}),
  ...(situation.programs.has('slurm') ? { command: 'sudo scontrol update nodename=<NODE> state=drain reason=xid' } : {}),
})

const seeRows = (facts: Facts, why: string): Piece => ({
  text: `See ${why}.`,
  command: `nvidia-smi -q -i ${gpuOf(facts)} -d ROW_REMAPPER,PAGE_RETIREMENT,ECC`,
})
/** Of the GPU's memory: its counters tell which part of it, and what is left to repair it. */
const OF_MEMORY: ReadonlySet<number> = new Set([48, 64, 95])

/** "A GPU crash dump has been created. If possible, please run nvidia-bug-report.sh as root …" */
const ASKS_REPORT = /GPU crash dump has been created/

type Action = (facts: Facts, situation: Situation) => readonly Piece[]
const ACTIONS: Readonly<Record<XidAction, Action>> = {
  ignore: () => [{ text: 'Nothing to do.' }],
  watch: (facts) => [{ text: 'Nothing to do at once; see whether it repeats.' }, kernelLines(facts), BUG_REPORT],
  'check-program': (facts, situation) => [findFault(facts, situation), kernelLines(facts, 'See what else the kernel logged in the same second.')],
  'restart-program': (facts, situation) => [{ text: `Restart ${program(facts)}; no reset is needed now.` }, test(facts, situation)],
  'restart-vm': () => [{ text: 'Restart the virtual machine that owns the GPU.' }],
  'reset-gpu': (facts, situation) => [
    kernelLines(facts),
    situation.gaming ? { text: 'If it does not recover, reboot.' } : resetGpu(facts),
    test(facts, situation),
    BUG_REPORT,
  ],
  'plan-reset': (facts) => [
    seeRows(facts, 'what waits for the reset'),
    resetGpu(facts, 'The repair takes effect only then. Wait until its work has ended: a reset stops it'),
  ],
  'drain-and-reset': (facts, situation) =>
    situation.gaming
      ? [kernelLines(facts), BUG_REPORT, RESTART]
      : [
          drain(facts, situation),
          OF_MEMORY.has(facts.xid ?? 0) && seeRows(facts, 'which memory it was, and how many spare rows are left'),
          !OF_MEMORY.has(facts.xid ?? 0) && BUG_REPORT,
          resetGpu(facts),
          afterwards(diagnose(facts, situation, 'After the reset, test it before it gets work again.')),
        ],
  reboot: (facts, situation) => [
    asleepFirst(situation.text) && STAY_AWAKE,
    ASKS_REPORT.test(situation.text)
      ? { text: 'Collect the crash dump for which the driver asks, before a reboot or an unloaded module loses it.', command: 'sudo nvidia-bug-report.sh' }
      : kernelLines(facts),
    { text: 'If it is the same GPU again: check its power cables, its seating and riser, then have it replaced.' },
    situation.gaming ? RESTART : REBOOT,
  ],
  replace: (facts, situation) => [diagnose(facts, situation, 'Confirm the fault.'), { text: 'Take the GPU out of service and have it replaced.' }, BUG_REPORT],
  'check-power': () => [{ text: "Switch the host off; check the GPU's power cables and the power supply." }],
  'check-managed-memory': (facts) => [
    { text: 'It matters only to managed memory and virtual GPUs: if one of them is used here, reset the GPU.' },
    kernelLines(facts),
  ],
  'update-driver': () => [{ text: 'Update the driver.', command: 'nvidia-smi --query-gpu=driver_version --format=csv' }, BUG_REPORT],
  'decode-nvlink': (facts) => [
    {
      text: 'See which links of the GPU count errors, and which are down. If an Xid 154 follows, do what that one asks for.',
      command: `nvidia-smi nvlink -e -i ${gpuOf(facts)}; nvidia-smi nvlink -s -i ${gpuOf(facts)}`,
    },
    kernelLines(facts),
  ],
  'follow-recovery-action': (facts) => [
    { text: 'See what the driver asks for, and do it.', command: `nvidia-smi -q -i ${gpuOf(facts)} | grep -i "recovery action"` },
  ],
  'follow-other': () => [
    {
      text: 'Look for another Xid, or for who ended the process, in the same seconds.',
      command: "sudo dmesg -T | grep -E 'NVRM: Xid|Out of memory|Killed process' | tail",
    },
  ],
  report: (facts) => [kernelLines(facts), BUG_REPORT],
}

/** Nothing but the facts is known where no text is at hand (a counter, a field of NVML). */
export const actionsFor = (action: XidAction, facts: Facts, situation: Situation = NOTHING_KNOWN): readonly Piece[] => ACTIONS[action](facts, situation)
