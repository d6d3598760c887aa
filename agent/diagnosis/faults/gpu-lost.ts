// A GPU that the driver can no longer reach, or could not bring up: off the bus, lost, adapter initialisation failed.
import type { Facts } from '../../model/facts.ts'
import type { Remedy } from '../../model/fault.ts'
import type { Situation } from '../situation/situation.ts'
import type { FaultFamily, LogText, Recognised } from './family.ts'
import { linkEvidence, silent, STAY_AWAKE } from './parts/pcie.ts'
import { around, known, pciBusId, whole, wrapped } from './parts/window.ts'
import { kernelLines, resetGpu, theGpu } from './remedies/gpu.ts'
import { plan, type Piece } from './remedies/plan.ts'

const PCI = '([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\\.[0-7])?)'
const OFF_THE_BUS = /fallen off the bus/
const NO_HANDLE = /Unable to determine the device handle for|nvmlDeviceGetHandleBy\w{3,16}(?:\(\))?: Unknown Error/
/** nvdebugdump names the one that it cannot ask. */
const NAMED_BELOW = /get details on GPU \(0x([\da-f]{1,2})\)/
const HEARTBEAT = /_kgspIsHeartbeatTimedOut\b[^\n]{0,40}[Hh]eartbeat timed out/
/** 0x0f is NV_ERR_GPU_IS_LOST (nvstatuscodes.h): calls to the firmware no longer leave the host. */
const LOST =
  /(?:rpcSendMessage failed with|\bGSP: \w{5,20} failed: [^\n]{0,120}\b)\s?status[ =]0x0000000f\b|GPU is lost|GPU_IS_LOST|NVMLError_GpuIsLost|NVML_ERROR_GPU_IS_LOST/
const INIT_FAILED = /RmInitAdapter failed|rm_init_adapter(?:\(\d{1,3}\))? failed/
const NO_POWER = new RegExp(`nvidia ${PCI}: (?:Unable to change power state from|[Cc]an't change power state from|Refused to change power state)`)
const NEEDS_RESET = /GPU requires reset|NVMLError_ResetRequired/

// An address may follow "GPU" at once: `GPU0000:25:00.0` is no GPU 0, `GPU1: 0000:34:00.0` is GPU 1.
const INDEX = new RegExp(`GPU ?(\\d{1,3}): ${PCI}`)
const ADDRESS = new RegExp(`(?<![0-9a-fA-F])${PCI}(?![0-9a-fA-F])`)

const hexadecimal = (digits: string | undefined): number | undefined => (digits === undefined ? undefined : Number.parseInt(digits, 16))

/** The driver's reasons for a failed start, as its lines above tell them: what they mean, and what to do instead of a reset. */
type Reason = {
  readonly pattern: RegExp
  readonly title?: string
  readonly says: string
  readonly pieces: (facts: Facts, situation: Situation) => readonly Piece[]
}
const driverVersion = (situation: Situation): string => (situation.versions.driver === undefined ? '' : ` ${situation.versions.driver}`)
const REASONS: readonly Reason[] = [
  {
    pattern: /requires use of the NVIDIA open kernel modules/,
    title: 'The driver lacks the open kernel modules',
    says: 'This GPU needs the NVIDIA open kernel modules, and the proprietary ones are installed.',
    pieces: (_, situation) => [
      {
        text: `Install the same driver release${driverVersion(situation)} in its open flavour (Ubuntu: nvidia-driver-<VERSION>-open; runfile: --kernel-module-type=open), then reboot.`,
      },
      {
        text: 'See which flavour is loaded: the licence is "Dual MIT/GPL" for the open modules, "NVIDIA" for the others.',
        command: 'modinfo -F license nvidia',
      },
    ],
  },
  {
    pattern: /No firmware image found|Direct firmware load for nvidia|failed to load firmware|loading \/lib\/firmware\/nvidia\/\S{1,80} failed/,
    title: "The driver's firmware files are missing",
    says: 'The driver says why: it found no GSP firmware image.',
    pieces: (_, situation) => [
      {
        text: `Install the firmware files of exactly this driver version${driverVersion(situation)} (under /lib/firmware/nvidia), and rebuild the initramfs if the driver is in it.`,
        command: `ls /lib/firmware/nvidia/${situation.versions.driver ?? ''}`.trim(),
      },
      { text: 'Then load the driver again.', command: 'sudo modprobe nvidia' },
    ],
  },
  {
    pattern: /unexpected WPR2 already up|may need to be reset/,
    says: 'The driver says why: the GPU is likely in a bad state (WPR2 is already up) and needs a reset.',
    pieces: (facts) => [
      { text: 'Bring the GPU out of that state: by a reset, or where that is refused by a power cycle of the host (a warm reboot may keep the state).' },
      resetGpu(facts),
    ],
  },
  {
    // The driver's README, on notebooks: it gets the image by ACPI from the system's BIOS; a guest gets it by a file.
    pattern: /failed to copy vbios to system memory/,
    says: "The driver says why: it could not read the GPU's VBIOS.",
    pieces: () => [{ text: "Update the machine's BIOS. In a guest that the GPU is passed through to: give the guest a file of the card's ROM (romfile=)." }],
  },
  {
    // kernel_gsp.c: the image of the GSP firmware is copied into host memory at each start of the GPU. The same code of mem_desc.c alone is no sign: it comes on healthy hosts.
    pattern: /NV_ERR_NO_MEMORY\][^\n]{0,120}(?:kgsp|kernel_gsp)|Error preparing (?:GSP-RM|boot binary) image/,
    title: 'The driver got no host memory to start the GPU',
    says: "The driver says why: it got no host memory (NV_ERR_NO_MEMORY) for the firmware of the GPU's system processor (GSP). Host memory is full or in small pieces. This says nothing against the card.",
    pieces: () => [
      { text: 'Free host memory, then start the GPU again: the next use tries it.', command: 'free -m; cat /proc/buddyinfo; nvidia-smi' },
      { text: 'Keep the driver initialised, so that it needs this memory only once after the boot.', command: 'sudo nvidia-smi -pm 1' },
      {
        text: 'See whether a cgroup or the IOMMU limits the memory, and what else the kernel logged about memory.',
        command: "sudo dmesg -T | grep -iE 'NVRM|out of memory|page allocation|swiotlb' | tail -n 30",
      },
    ],
  },
  {
    // kernel_gsp_fwsec.c, kernel_gsp_vbios_tu102.c
    pattern: /s_vbiosPatchInterfaceData|failed to (?:extract VBIOS image|parse FWSEC ucode|prepare interface data for FWSEC)/,
    title: "The driver cannot use the card's VBIOS",
    says: "The driver says why: it could not read the GPU's VBIOS, or found no firmware in it that it knows. That is the case on boards whose firmware does not run or map the card's ROM (many ARM boards), in virtual machines without the ROM, and with damaged or changed VBIOS.",
    pieces: (facts, situation) => [
      {
        text: 'See whether the ROM of the card can be read at all.',
        command: `sudo lspci -vvs ${facts['pci_bus_id'] ?? '<PCI_ADDRESS>'} | grep -iE 'ROM|Region'`,
      },
      { text: 'In a virtual machine give the GPU its ROM (romfile=, rom bar on) and pass all of its functions.' },
      {
        text: `Update the firmware of the machine and, from its maker, the VBIOS of the card; try another driver release than${driverVersion(situation) === '' ? ' this one' : driverVersion(situation)}.`,
      },
    ],
  },
  {
    pattern: /GFW_BOOT|GFW boot/,
    says: "The driver says why: the GPU's own firmware (GFW) did not finish booting.",
    pieces: (facts) => [powerCycle, kernelLines(facts), replaceIt(facts)],
  },
  {
    pattern: /[Hh]eartbeat timed out|GSP Timeout|Timeout waiting for RPC from GSP/i,
    says: "The driver says why: the GPU's system processor (GSP) stopped answering (heartbeat timed out).",
    pieces: (facts) => [powerCycle, kernelLines(facts), replaceIt(facts), resetGpu(facts)],
  },
  {
    pattern: /GSP-FMC reported an error while attempting to boot GSP: (?:0x[\da-f]{1,8})/,
    says: "The driver says why: the GPU's system processor (GSP) refused to boot (GSP-FMC).",
    pieces: (facts, situation) => [
      powerCycle,
      {
        text: `Install a different driver release than${driverVersion(situation) === '' ? ' this one' : driverVersion(situation)}, with its own firmware files, and update the firmware (BIOS) of the machine and the VBIOS of the card.`,
      },
      kernelLines(facts),
      replaceIt(facts),
    ],
  },
  {
    pattern: /Cannot initialize GSP firmware/,
    says: "The driver says why: the GPU's system processor (GSP) did not start.",
    pieces: (facts) => [powerCycle, kernelLines(facts), replaceIt(facts)],
  },
]
const ATTACH: Reason = {
  pattern: /^(?![^]*(?:is not supported by|requires use of))[^]*osInitNvMapping: \*{3} Cannot attach gpu/,
  says: 'The driver says why: it could not attach the GPU at all. Mostly the card no longer answers on the bus, as after a fall off it (Xid 79), or its power is off.',
  pieces: (facts) => [powerCycle, kernelLines(facts, 'See which Xids, PCIe errors (AER), power and heat events the kernel logged before.'), replaceIt(facts)],
}
const GUEST: Reason = {
  pattern: /Hardware name: (?:VMware|QEMU|Microsoft Corporation Virtual Machine|Xen HVM|OpenStack|Red Hat KVM|Nutanix)|Hypervisor detected: /,
  says: 'It runs in a virtual machine, so likely the GPU was not passed through completely, or was not reset since it was last used.',
  pieces: (facts, situation) => [
    {
      text: 'On the host: pass all functions of the card (its audio and USB parts too), let no driver of the host use it (vfio-pci), and give the guest UEFI firmware with space for large BARs (VMware: pciPassthru.use64bitMMIO=TRUE and pciPassthru.64bitMMIOSizeGB).',
    },
    { text: 'Power the guest off and on, and if that is not enough reboot the host: a restart inside of the guest does not reset the card.' },
    kernelLines(facts),
    {
      text: `Then try another driver release${driverVersion(situation) === '' ? '' : ` than${driverVersion(situation)}`} in the guest: older ones refuse consumer cards in virtual machines.`,
    },
  ],
}
/** Two cards rarely break at once. */
const SEVERAL: Reason = {
  pattern: /GPU (\S{7,16}): RmInitAdapter failed[^]*GPU (?!\1)\S{7,16}: RmInitAdapter failed/,
  says: 'Another GPU of this host fails alike, so likely the cause is what they share: the driver and its firmware files, or the virtual machine.',
  pieces: (facts, situation) => [
    kernelLines(facts),
    {
      text: `Reinstall the driver, or install another release${driverVersion(situation) === '' ? '' : ` than${driverVersion(situation)}`}: it must suit all of these cards.`,
      command: 'lspci -nn -d 10de:; cat /proc/driver/nvidia/version',
    },
    {
      text: 'In a virtual machine: pass all functions of each card, and power it off and on from the host: a restart inside does not reset the cards.',
      command: 'systemd-detect-virt',
    },
    rebootFor({}),
  ],
}
const powerCycle: Piece = {
  text: 'Drain the host and power-cycle it: switch it off completely, then on. A warm reboot may leave the card dead.',
  command: 'sudo poweroff',
  destroys: true,
}
const replaceIt = (facts: Facts): Piece => ({
  text: `If ${theGpu(facts)} fails again: reseat the card, check its power cables and riser, update its firmware, then replace it.`,
})
const rebootFor = (facts: Facts): Piece => ({
  text: `Drain the host and reboot it; if ${theGpu(facts)} does not come back, power-cycle the host (a warm reboot may leave the card dead).`,
  command: 'sudo reboot',
  destroys: true,
})

const lost = (facts: Facts, { system, programs }: Situation): readonly Remedy[] =>
  plan(
    programs.has('kubernetes') && {
      text: 'Keep new pods off that node, and let the others end: while a GPU is lost, the device plugin may offer none of its GPUs.',
      command: 'kubectl cordon <NODE>',
    },
    system === 'windows' && { text: 'Restart Windows, or disable and enable the GPU in Device Manager: until then the driver does not find it again.' },
    kernelLines(facts, 'See which Xids, PCIe errors (AER), power and heat events the kernel logged before.'),
    replaceIt(facts),
    rebootFor(facts),
  )

const extra = (sentence: string | undefined): string => (sentence === undefined ? '' : ` ${sentence}`)
function recognise(text: LogText, at: number, situation: () => Situation): Recognised | undefined {
  const line = text[at] ?? ''
  // A line with an Xid is reported as that (79), and the driver's other line about the same loss is not reported twice.
  if (/\bXid \(/.test(line)) return undefined
  const message = wrapped(text, at)
  const index = whole(INDEX.exec(message)?.[1] ?? /creating nvml\.Device (\d{1,3}):/.exec(message)?.[1]) ?? hexadecimal(NAMED_BELOW.exec(message)?.[1])
  const found = INDEX.exec(message)?.[2] ?? ADDRESS.exec(message)?.[1] ?? ADDRESS.exec(around(text, at, 2, 0))?.[1]
  const pci = found === undefined ? undefined : pciBusId(found)
  const facts = known({ gpu_index: index, pci_bus_id: pci })
  const which = pci === undefined ? (index === undefined ? 'A GPU' : `GPU ${index}`) : `The GPU at ${pci}`
  const base = { kind: 'gpu_lost', severity: 'critical', facts, lines: [at] } as const

  if (OFF_THE_BUS.test(line)) {
    if (/\bXid \([^)]{1,40}\): 79\b/.test(around(text, at, 6, 6))) return undefined
    if (/bbswitch: disabling discrete graphics/.test(around(text, at, 40, 40)))
      return {
        ...base,
        title: 'GPU is switched off',
        verdict: `${which} does not answer because its power is off: bbswitch has disabled it, as Bumblebee does to save power in a laptop.`,
        remedies: plan(
          { text: 'Switch it on, then load the driver.', command: 'echo ON | sudo tee /proc/acpi/bbswitch; sudo modprobe nvidia' },
          {
            text: 'Or do without bbswitch: the driver and the kernel switch the GPU by themselves today (runtime power management).',
            command: 'systemctl status bumblebeed; cat /proc/acpi/bbswitch',
          },
        ),
      }
    const link = linkEvidence(around(text, at, 40, 10))
    const verdict = `${which} has fallen off the PCIe bus: the driver no longer reaches it. ${link ?? 'Likely causes: power, heat, the link or the board.'}`
    return { ...base, title: 'GPU has fallen off the bus', verdict, remedies: lost(facts, situation()) }
  }
  if (NO_HANDLE.test(line)) {
    const verdict = `${which} is listed, but the driver gets no answer from it. It stays lost until the host is rebooted or power-cycled.${extra(silent(situation().text, facts.pci_bus_id))}${extra(linkEvidence(around(text, at, 40, 20)))}`
    return { ...base, title: 'GPU cannot be reached', verdict, remedies: lost(facts, situation()) }
  }
  if (INIT_FAILED.test(line)) {
    const at2 = text.findIndex((other, number) => number > at && number < at + 4 && INIT_FAILED.test(other))
    const near = around(text, at, 24, 8)
    const reason = [...REASONS, ATTACH, GUEST, SEVERAL].find(({ pattern }) => pattern.test(near))
    const version = situation().versions.driver
    return {
      ...base,
      title: reason?.title ?? 'GPU initialization failed',
      verdict: `The driver${version === undefined ? '' : ` ${version}`} could not start ${which.replace(/^(?:The|A)\b/, (word) => word.toLowerCase())}. ${reason?.says ?? 'Likely causes: a driver that does not suit the card, missing firmware, or a card that does not answer.'}`,
      remedies: reason === undefined ? lost(facts, situation()) : plan(reason.pieces(facts, situation())),
      lines: at2 < 0 ? [at] : [at, at2],
    }
  }
  if (NO_POWER.test(line)) {
    if (/\bXid \([^)]{1,40}\): 79\b/.test(around(text, at, 6, 12))) return undefined
    const verdict = `${which} does not come back from its sleep state; the driver cannot reach it.`
    return { ...base, title: 'GPU does not wake up', verdict, remedies: plan(situation().vendor !== 'amd' && STAY_AWAKE, lost(facts, situation())) }
  }
  if (NEEDS_RESET.test(line)) {
    const verdict = `${which} is in a state from which only a reset brings it back.`
    return { ...base, title: 'GPU needs a reset', verdict, remedies: plan(kernelLines(facts), resetGpu(facts)) }
  }
  if (HEARTBEAT.test(line)) {
    // An Xid or a failed start already reports this.
    if (/\bXid \(/.test(around(text, at, 20, 40)) || INIT_FAILED.test(around(text, at, 8, 24))) return undefined
    const number = whole(/\bGPU(\d{1,3}) /.exec(line)?.[1])
    const gpu = number === undefined ? which : `GPU ${number} (as the driver counts)`
    return {
      ...base,
      title: 'GPU does not answer the driver',
      verdict: `${gpu}: its system processor (GSP), on which most of the driver runs, has stopped answering. Calls of nvidia-smi and NVML may hang from here on.`,
      remedies: lost(facts, situation()),
    }
  }
  if (LOST.test(line))
    return { ...base, title: 'GPU is lost', verdict: `${which} is lost: the driver no longer reaches it.`, remedies: lost(facts, situation()) }
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
    'status 0x0000000f',
    'status=0x0000000f',
    'NVMLError_GpuIsLost',
    'RmInitAdapter failed',
    'rm_init_adapter',
    'Unable to change power state from',
    'Refused to change power state',
    "an't change power state from",
    'GPU requires reset',
    '_kgspIsHeartbeatTimedOut',
    'nvmlDeviceGetHandleBy',
    'NVMLError_ResetRequired',
  ],
  recognise,
}
