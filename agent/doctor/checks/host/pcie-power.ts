// Links and power of the GPUs are as they should be, as far as this moment shows it: an idle card lowers its link by itself.
import { gpuPcieLinkGeneration, gpuPcieLinkGenerationMax, gpuPcieLinkWidth, gpuPcieLinkWidthMax } from '../../../metrics/gpu-links.ts'
import { gpuUtilizationRatio } from '../../../metrics/gpu-load.ts'
import { gpuPowerLimitDefaultWatts, gpuPowerLimitWatts } from '../../../metrics/gpu-power.ts'
import type { Remedy } from '../../../model/fault.ts'
import { defineCheck, type Finding } from '../../definition.ts'
import { skipped } from '../../parts/nvidia-pci.ts'
import type { NvmlGpu } from '../../parts/nvml-facts.ts'

/** As the detector of slow links takes it: less is no work that would raise the link. */
const WORKS = 0.05

const SEAT: readonly Remedy[] = [
  { text: 'Switch the machine off; reseat the card, its riser and cables; clean the contacts.' },
  {
    text: 'Try another slot, then another card in this slot: the fault stays with one of them. In the firmware set the slot to its full generation and width.',
  },
  { text: 'See what both ends say: LnkCap is what they can, LnkSta what they do.', command: "sudo lspci -vv -d 10de: | grep -E 'NVIDIA|LnkCap:|LnkSta:'" },
]

function link({ index, value }: NvmlGpu): Finding | undefined {
  const [width, widthMax, generation, generationMax] = [
    value(gpuPcieLinkWidth),
    value(gpuPcieLinkWidthMax),
    value(gpuPcieLinkGeneration),
    value(gpuPcieLinkGenerationMax),
  ]
  const busy = (value(gpuUtilizationRatio) ?? 0) > WORKS
  const subject = `GPU ${index}`
  if (width === undefined || widthMax === undefined) return undefined
  const slow = generation !== undefined && generationMax !== undefined && generation < generationMax
  const shown = `PCIe ${generation ?? '?'} x${width}, could be ${generationMax ?? '?'} x${widthMax}`
  if (width >= widthMax && !slow) return { status: 'pass', subject, summary: `PCIe ${generation ?? '?'} x${width}, as much as card and slot can do` }
  if (!busy) return { status: 'pass', subject, summary: `${shown}; the card rests, so that says nothing: look again while it works` }
  return { status: 'warn', subject, summary: `the card works and its link is slower than it could be: ${shown}`, remedies: SEAT }
}

function power({ index, throttleReasons, value }: NvmlGpu): Finding | undefined {
  const subject = `GPU ${index}`
  if (throttleReasons.includes('hw_power_brake_slowdown'))
    return {
      status: 'fail',
      subject,
      summary: 'the machine pulls the power brake: the clocks are cut by half or more',
      remedies: [
        {
          text: 'Look at the supplies: a unit without power, a tripped breaker, a loose cable, a power cap of the chassis.',
          command: 'sudo ipmitool sdr type "Power Supply"; sudo ipmitool sel elist | tail',
        },
        { text: 'Until it is repaired, keep the total power of the GPUs below what the supply gives.', command: `sudo nvidia-smi -i ${index} -pl WATTS` },
      ],
    }
  const heat = throttleReasons.filter((reason) => ['hw_thermal_slowdown', 'sw_thermal_slowdown', 'hw_slowdown'].includes(reason))
  if (heat.length > 0)
    return {
      status: 'warn',
      subject,
      summary: `the card is held back now (${heat.join(', ')})`,
      remedies: [
        { text: 'See temperatures, limits and power.', command: `nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER -i ${index}` },
        { text: 'Heat: fans, dust, filters, blanking plates, neighbours that blow into it. hw_slowdown alone can be power, too: cables and supply.' },
        { text: 'Until that is done let the card draw less; it loses less speed than by the slowdown.', command: `sudo nvidia-smi -i ${index} -pl WATTS` },
      ],
    }
  const [limit, usual] = [value(gpuPowerLimitWatts), value(gpuPowerLimitDefaultWatts)]
  // Limits are lowered on purpose more often than not: reported, but not as a problem.
  if (limit !== undefined && usual !== undefined && limit < usual - 1)
    return { status: 'pass', subject, summary: `its power limit is ${Math.round(limit)} W; as it comes it would be ${Math.round(usual)} W` }
  return undefined
}

export const pciePower = defineCheck({
  id: 'pcie-power',
  group: 'host',
  title: 'the PCIe links and the power of the GPUs are as they should be',
  covers: ['pcie_degraded', 'power_brake', 'throttling', 'thermal_or_power'],
  async run({ nvml, distribution }) {
    if ((await distribution()).wsl !== 0) return skipped('WSL: link and power are those of Windows')
    const facts = await nvml()
    if (facts === undefined || facts.gpus.length === 0) return skipped('no GPU answers')
    const findings = facts.gpus.flatMap((gpu) => [link(gpu), power(gpu)].filter((finding) => finding !== undefined))
    return findings.length > 0 ? findings : skipped('the driver reports neither links nor power')
  },
})
