// A GPU that the driver can no longer reach, or could not bring up: off the bus, lost, adapter initialisation failed.
import type { Remedy } from '../../model/fault.ts'
import type { FaultFamily, LogText, Recognised } from './family.ts'
import { around, known, pciBusId, whole, wrapped } from './parts/window.ts'

const PCI = '([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\\.[0-7])?)'
const OFF_THE_BUS = /fallen off the bus/
const NO_HANDLE = /Unable to determine the device handle for/
const LOST = /GPU is lost|GPU_IS_LOST|NVMLError_GpuIsLost|NVML_ERROR_GPU_IS_LOST/
const INIT_FAILED = /RmInitAdapter failed|rm_init_adapter(?:\(\d{1,3}\))? failed/
const NO_POWER = new RegExp(`nvidia ${PCI}: Unable to change power state from`)
const NEEDS_RESET = /GPU requires reset|NVMLError_ResetRequired/

// An address may follow "GPU" at once: `GPU0000:25:00.0` is no GPU 0, `GPU1: 0000:34:00.0` is GPU 1.
const INDEX = new RegExp(`GPU ?(\\d{1,3}): ${PCI}`)
const ADDRESS = new RegExp(`(?<![0-9a-fA-F])${PCI}(?![0-9a-fA-F])`)

const REMEDIES: readonly Remedy[] = [
  { text: 'Move the work away; do not trust what still runs on this GPU.' },
  {
    text: 'Read what came before: Xids, PCIe (AER) and power or heat events.',
    command: "sudo dmesg -T | grep -iE 'NVRM|Xid|AER|pcieport|Power|thermal' | tail -n 40",
  },
  {
    text: 'Try a reset; where it fails, switch the power of the whole machine off and on: a warm reboot may leave the card dead.',
    command: 'sudo nvidia-smi --gpu-reset -i GPU',
  },
  { text: 'If it is the same card again: reseat it, check power cables and risers, update the firmware, then replace it.' },
]

function recognise(text: LogText, at: number): Recognised | undefined {
  const line = text[at] ?? ''
  const base = { kind: 'gpu_lost', severity: 'critical', remedies: REMEDIES, lines: [at] } as const
  // A line with an Xid is told as such (79), and the driver's other line about the same loss is not told twice.
  if (/\bXid \(/.test(line)) return undefined
  const message = wrapped(text, at)
  const index = whole(INDEX.exec(message)?.[1])
  const found = INDEX.exec(message)?.[2] ?? ADDRESS.exec(message)?.[1] ?? ADDRESS.exec(around(text, at, 2, 0))?.[1]
  const pci = found === undefined ? undefined : pciBusId(found)
  const facts = known({ gpu_index: index, pci_bus_id: pci })
  const which = pci === undefined ? (index === undefined ? 'A GPU' : `GPU ${index}`) : `The GPU at ${pci}`

  if (OFF_THE_BUS.test(line)) {
    if (/\bXid \([^)]{1,40}\): 79\b/.test(around(text, at, 6, 6))) return undefined
    return {
      ...base,
      title: 'GPU has fallen off the bus',
      verdict: `${which} does not answer on the PCIe bus any more: link, power, heat or the board itself.`,
      facts,
    }
  }
  if (NO_HANDLE.test(line)) {
    return {
      ...base,
      title: 'GPU cannot be reached',
      verdict: `${which} is listed, but the driver gets no answer from it: it is lost until it is reset or the machine power-cycled.`,
      facts,
    }
  }
  if (INIT_FAILED.test(line)) {
    const at2 = text.findIndex((other, number) => number > at && number < at + 4 && INIT_FAILED.test(other))
    const verdict = `${which} could not be brought up by the driver: no firmware or a wrong one, a card that does not answer, or a driver that does not suit it.`
    return { ...base, title: 'GPU initialisation failed', verdict, facts, lines: at2 < 0 ? [at] : [at, at2] }
  }
  if (NO_POWER.test(line))
    return { ...base, title: 'GPU does not wake up', verdict: `${which} does not come back from its sleep state; the driver cannot reach it.`, facts }
  if (NEEDS_RESET.test(line)) return { ...base, title: 'GPU needs a reset', verdict: `${which} is in a state from which only a reset brings it back.`, facts }
  if (LOST.test(line)) return { ...base, title: 'GPU is lost', verdict: `${which} is lost: the driver cannot reach it any more.`, facts }
  return undefined
}

export const gpuLost: FaultFamily = {
  id: 'gpu-lost',
  kinds: ['gpu_lost'],
  literals: [
    'fallen off the bus',
    'Unable to determine the device handle for',
    'GPU is lost',
    'GPU_IS_LOST',
    'NVMLError_GpuIsLost',
    'RmInitAdapter failed',
    'rm_init_adapter',
    'Unable to change power state from',
    'GPU requires reset',
    'NVMLError_ResetRequired',
  ],
  recognise,
}
