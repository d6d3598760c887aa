// AMD and Intel GPUs that hang and are reset by their kernel driver (amdgpu, i915, xe), and whose firmware does not answer it.
import type { Facts } from '../../model/facts.ts'
import { atCard, driverLines, driverOf, drmFacts, ofThisCard } from './parts/drm.ts'
import { ruleFamily, type Rule, type Seen, type Matched } from './parts/rules.ts'
import { known } from './parts/window.ts'
import { REBOOT, RESTART } from './remedies/gpu.ts'
import type { Piece } from './remedies/plan.ts'

const near = (seen: Seen): string => ofThisCard(seen, 2, 12)
const facts = (seen: Seen): Facts => {
  const lines = near(seen)
  return { ...drmFacts(lines), ...known({ status: /ring ([\w.]{2,30}) timeout/i.exec(lines)?.[1] }) }
}
/** The whole card is lost, not one queue of it. */
const GONE =
  /GPU reset\(\d{1,6}\) failed|GPU [Rr]ecovery (?:[Ff]ailed|disabled)|wedged(?!, but recovered)|cancelling all in-flight|GT\d: reset failed|ip_resume failed|resume of IP block|Fatal error during GPU init|ring \w[\w.]{0,30} test failed \(scratch\(/
const BACK =
  /context reset due to GPU hang|GPU reset(?:\(\d{1,6}\))? succeeded|\b[Rr]ing [\w.]{2,30} reset succeeded|recovered through reset|\bxe\b[^\n]{0,60}\bGT\d: reset done/
const afterRas = (seen: Seen): boolean =>
  /[1-9]\d{0,6} uncorrectable hardware errors? detected|\bRAS (?:fatal|poison)|ras_poison/i.test(ofThisCard(seen, 10, 0))
type End = 'gone' | 'back' | 'open'
const endOf = (lines: string): End => (GONE.test(lines) ? 'gone' : BACK.test(lines) ? 'back' : 'open')

const reboot = ({ situation }: Matched): Piece => (situation().gaming ? RESTART : REBOOT)
function remedies(matched: Matched): readonly Piece[] {
  const { process, pid } = matched.facts
  const lines = near(matched)
  const driver = driverOf(lines)
  const restart: Piece = {
    text:
      process === undefined
        ? 'Restart the programs that used the GPU: their work on it is lost.'
        : `Restart ${process}${pid === undefined ? '' : ` (pid ${pid})`}: its work on the GPU is lost.`,
  }
  return [
    endOf(lines) !== 'gone' && restart,
    !afterRas(matched) && { text: 'See what led to it: a page fault or another time-out just before names the program.', command: driverLines(driver) },
    !afterRas(matched) && {
      text:
        driver === 'amdgpu'
          ? `If it comes back, update kernel, firmware (linux-firmware) and ${matched.situation().gaming ? 'Mesa' : 'ROCm'} together, then report it with these lines.`
          : 'If it comes back, update kernel, firmware and the compute runtime together, then report it with these lines.',
    },
    endOf(lines) !== 'back' && reboot(matched),
  ]
}
const ENGINE = /failed to reset engine|Engine reset failed/
/** What the driver tries on each ring when it starts or resets the card. */
const TESTED = /IB test failed on (\w[\w.]{1,20})|ring (\w[\w.]{0,30}) test failed/
const ENDS: Readonly<Record<End, string>> = { gone: 'its driver could not reset it', back: 'its driver reset it', open: 'its driver resets it' }
const TITLES: Readonly<Record<End, string>> = { gone: 'GPU hung and could not be reset', back: 'GPU hung and was reset', open: 'GPU hung' }
const hang = {
  severity: 'critical',
  title: (matched: Matched) => TITLES[endOf(near(matched))],
  verdict: (matched: Matched) => {
    const { status, process } = matched.facts
    const where = atCard(matched.facts)
    // The driver of AMD resets a card after errors in its memory too.
    if (afterRas(matched)) return `${where.replace(/^t/, 'T')} had uncorrectable errors in its memory; ${ENDS[endOf(near(matched))]} for that.`
    return `${where.replace(/^t/, 'T')} hung${status === undefined ? '' : ` (ring ${status} did not finish in time)`}${process === undefined ? '' : ` while ${process} used it`}; ${ENDS[endOf(near(matched))]}.${ENGINE.test(near(matched)) ? ' The reset of its engine alone failed.' : ''} Most likely a program or the driver.`
  },
  remedies,
} as const
const wedged = {
  ...hang,
  title: 'GPU is unusable until the host restarts',
  verdict: ({ facts: found }: Matched) =>
    `The driver could not bring ${atCard(found)} back after a hang: no program can use it until its driver is loaded again or the host restarts.`,
} as const
/** The microcontroller that runs clocks, power and sensors (SMU), or the one that schedules queues (MES). */
const firmware = (name: string, what: string, driver: 'amdgpu' | 'xe' = 'amdgpu'): Omit<Rule, 'pattern'> => ({
  severity: 'critical',
  title: `${name} firmware of the GPU does not answer`,
  verdict: (matched) =>
    `The ${name} firmware (${what}) of ${atCard(matched.facts)} does not answer its driver. ${endOf(near(matched)) === 'back' ? 'The driver reset the GPU, and it answers again.' : 'Often a hang of the GPU follows.'}`,
  remedies: (matched) => [
    endOf(near(matched)) === 'back' && { text: 'Restart the programs that used the GPU: their work on it is lost.' },
    { text: 'See whether the GPU hung before or after it, and which program used it.', command: driverLines(driver) },
    name === 'SMU' && { text: 'Until the reboot stop what reads its sensors: each read waits for seconds and logs these lines again.' },
    { text: 'Update kernel and firmware (linux-firmware) together, and the BIOS of a laptop or mini PC.' },
    endOf(near(matched)) !== 'back' && reboot(matched),
  ],
})

export const gpuReset = ruleFamily({
  id: 'gpu-reset',
  kind: 'gpu_reset',
  literals: [
    '*ERROR* ring ',
    ' timeout, signaled seq=',
    'GPU reset begin',
    'GPU HANG: ',
    'GPU reset(',
    'GPU Recovery Failed',
    'GPU recovery timed out',
    ' reset request timed out',
    ' context reset due to GPU hang',
    'declared wedged',
    'declaring it wedged',
    'Xe has declared device',
    'device is wedged',
    'Timedout job: seqno=',
    ' Engine reset: ',
    'engine reset request failed',
    'SMU: No response',
    "SMU: I'm not done",
    'SMU is in hanged state',
    'Msg issuing pre-check failed',
    'is timeout (no response)',
    ' failed to respond to msg',
    'MES might be in unrecoverable',
    'qcm fence wait loop timeout',
    'The cp might be in an unrecoverable state',
    'resume of IP block ',
    'Fatal error during GPU init',
    'HW Exception by GPU node',
    ' reset failed',
    'VRAM is lost',
    ' test failed (scratch(',
    'GPU reset end with ret = -',
    'ip_resume failed',
    'Failed to export SMU metrics table',
    'failed to response msg',
    'hardware queue from MES',
    'MES ring buffer is full',
    'Failed to evict queue',
    ' for preemption time out',
    ' for stopped heartbeat',
    'Engine reset failed on',
    'GuC Crash dump',
    'GuC mmio request',
    'Timed out wait for G2H',
    'ring test failed',
    'IB test failed on ',
    ' test failed (-',
  ],
  facts,
  rules: [
    {
      ...wedged,
      pattern:
        /\b(?:i915|xe)\b[^\n]{0,120}(?:declared wedged|is wedged|declaring it wedged|declared device [0-9a-f:.]{7,12} as wedged)|\bi915\b[^\n]{0,60}GPU recovery timed out|\bamdgpu\b[^\n]{0,80}(?:GPU reset\(\d{1,6}\) failed|GPU Recovery Failed|GPU reset end with ret = -\d|resume of IP block <\w{1,20}> failed|ip_resume failed|Fatal error during GPU init)|\bxe\b[^\n]{0,60}\bGT\d: reset failed \(-?\w/,
    },
    {
      severity: 'critical',
      title: "The GPU failed its driver's test",
      pattern: /\bamdgpu\b[^\n]{0,80}(?:IB test failed on \w|ib ring test failed \(-\d|ring \w[\w.]{0,30} test failed \((?:-\d|scratch\())/,
      verdict: (matched) => {
        const [, engine, ring] = TESTED.exec(near(matched)) ?? []
        const which = engine ?? (ring !== undefined && /^\d/.test(ring) ? `ring ${ring}` : ring)
        return `The driver started ${atCard(matched.facts)} or reset it, and ${which === undefined ? 'a part of it' : which} did not answer the test: ${/^(?:vcn|jpeg|vpe|uvd|vce)/.test(which ?? '') ? 'video work fails on it; computing may still work' : 'programs cannot use the GPU'}.`
      },
      remedies: (matched) => [
        { text: 'See what came before: a hang, a reset, or the first start after the boot.', command: driverLines('amdgpu') },
        reboot(matched),
        {
          text: 'If it fails after each boot: update kernel and firmware (linux-firmware) together; in a virtual machine the GPU must be reset between two starts.',
        },
        endOf(near(matched)) === 'back' && { text: 'Restart the programs that used the GPU: their work on it is lost.' },
      ],
    },
    // Kernels from 6.16 on print it without *ERROR*. https://github.com/ROCm/legacy-rocm-build/issues/6127
    { ...hang, pattern: /\*ERROR\* ring [\w.]{2,30} timeout\b(?!, but soft recovered)|\bring [\w.]{2,30} timeout, signaled seq=/ },
    { ...hang, pattern: /\bamdgpu\b[^\n]{0,60}(?:GPU reset begin|[Rr]ing [\w.]{2,30} reset failed|VRAM is lost(?: due to GPU reset)?)/ },
    { ...hang, pattern: /\bi915\b[^\n]{0,40}Resetting (?:chip|\w{2,10}) for (?:preemption time out|stopped heartbeat)|\bGUC: Engine reset failed on \d/ },
    {
      ...hang,
      pattern:
        /\[drm\] GPU HANG: ecode|\bi915\b[^\n]{0,80}(?:reset request timed out|context reset due to GPU hang)|\bxe\b[^\n]{0,100}(?:Timedout job: seqno=|Engine reset: engine_class|[Ee]ngine reset request failed)/,
    },
    { ...hang, pattern: /qcm fence wait loop timeout expired|The cp might be in an unrecoverable state|\b(?:amdgpu|kfd)\b[^\n]{0,60}Failed to evict queue/ },
    {
      ...hang,
      pattern: /HW Exception by GPU node-(\d{1,3})[^\n]{0,60}reason ?: ?GPU Hang/i,
      verdict: ({ match }) => `A GPU (node ${match[1]} of ROCm) hung under the program, and ROCm ended it. The kernel log says which queue hung.`,
    },
    {
      ...firmware('SMU', 'clocks, power, sensors'),
      pattern:
        /SMU: No response msg_reg|SMU: I'm not done with your previous command|SMU is in hanged state|Failed to export SMU metrics table|Msg issuing pre-check failed and SMU|\bmessage: \w{3,60} \(\d{1,4}\)[^\n]{0,60}is timeout \(no response\)/,
    },
    {
      ...firmware('MES', 'scheduling of queues'),
      pattern:
        /\bMES(?:\(\d\))? failed to respon(?:d|se)(?: to)? msg|MES might be in unrecoverable state|failed to (?:remove|add) hardware queue (?:from|to) MES|\bMES ring buffer is full/,
    },
    {
      ...firmware('GuC', 'scheduling of work', 'xe'),
      pattern: /\bxe\b[^\n]{0,80}(?:GuC Crash dump notification|GuC mmio request \w{1,12}: no reply|Timed out wait for G2H)/,
    },
  ],
})
