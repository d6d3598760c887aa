// The GPU slows itself down, or stops, for heat or power: as the kernel, the diagnostic tools and monitors write it.
import type { Remedy } from '../../model/fault.ts'
import { ruleFamily, type Seen } from './parts/rules.ts'
import { known, pciBusId, whole } from './parts/window.ts'

export const HEAT: readonly Remedy[] = [
  { text: 'See how hot it is, and at which temperature it slows down.', command: 'nvidia-smi -q -d TEMPERATURE,PERFORMANCE' },
  { text: 'Check fans, dust, air flow and the temperature of the room; on a server also the fan control of the BMC.' },
  { text: 'Until that is done, give it less to do.', command: 'sudo nvidia-smi -i GPU -pl WATTS' },
]
export const POWER: readonly Remedy[] = [
  { text: 'See the draw, the limit and why the clocks are low.', command: 'nvidia-smi -q -d POWER,PERFORMANCE' },
  {
    text: "A power brake comes from outside: check the power supplies, their redundancy and cables, and the BMC's event log.",
    command: 'ipmitool sel elist | tail',
  },
  { text: 'Limit the GPUs together to what the supply gives.', command: 'sudo nvidia-smi -pl WATTS' },
]
const gpu = ({ message }: Seen): ReturnType<typeof known> => {
  const pci = /\b([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?)\b/.exec(message)?.[1]
  return known({ gpu_index: whole(/\bGPU ?#?(\d{1,3})\b(?!:)/.exec(message)?.[1]), pci_bus_id: pci === undefined ? undefined : pciBusId(pci) })
}
const ABOUT_GPU = /\bGPUs?\b|NVRM|nvidia|NVIDIA|[Cc]locks? (?:[Tt]hrottle|[Ee]vent)/

export const thermalOrPower = ruleFamily({
  id: 'thermal-or-power',
  kind: 'thermal_or_power',
  literals: [
    'hermal violation',
    'hermal slowdown',
    'hermal throttl',
    'hermal shutdown',
    'hermally throttl',
    'ower violation',
    'ower brake',
    'Power Brake Slowdown',
    'critical temperature reached',
    'overheated',
    'overheating',
    'power cables are not',
    'power connector',
    'PCIe power cable',
    'Thermal Slowdown',
    'thermal_slowdown',
    'ThermalSlowdown',
    'hw_slowdown',
    'HW_SLOWDOWN',
    'HwSlowdown',
    'THERMAL_SLOWDOWN',
    'ower_brake',
    'POWER_BRAKE',
  ],
  facts: gpu,
  rules: [
    {
      // Monitors write the driver's reasons in their own notation: hw_thermal_slowdown=1, "HwPowerBrakeSlowdown": true.
      pattern: /(?:hw|sw)_?(?:thermal_?|power_?brake_?)?slowdown["']?\s{0,4}[:=]\s{0,4}["']?(?:active|true|yes|1)\b/i,
      severity: 'warning',
      title: 'GPU slowed down',
      verdict: 'The GPU lowers its clocks to protect itself or the power supply, so the work takes longer.',
      remedies: [...HEAT, ...POWER.slice(0, 2)],
    },
    {
      pattern: /[Tt]hermal violations? totaling\s{0,3}([\d.]{1,8})?/,
      severity: 'warning',
      title: 'GPU slowed down for heat',
      verdict: ({ match }) =>
        `The diagnostic found that the GPU slowed down for heat${match[1] === undefined ? '' : ` for ${match[1]} s`} during its test: it is not cooled enough.`,
      remedies: HEAT,
    },
    {
      pattern:
        /[Pp]ower violations? totaling|(?:HW|[Hh]ardware|[Ee]xternal)?[ _]?[Pp]ower[ _][Bb]rake(?: [Ss]lowdown| [Aa]ssertion)?[^\n]{0,40}\b(?:asserted|engaged|activated|detected|is active)\b/,
      severity: 'warning',
      title: 'GPU held back for power',
      verdict: "The GPU is held back because the machine's power supply asked for it, or because it reached its limit.",
      remedies: POWER,
    },
    {
      pattern: /GPU[^\n]{0,80}\b(?:[Tt]hermal [Ss]hutdown|has overheated|overheated\b)|NVRM[^\n]{0,80}(?:thermal shutdown|overheat)/,
      severity: 'critical',
      title: 'GPU too hot',
      verdict: 'The GPU became so hot that it was or will be switched off to save it.',
      remedies: HEAT,
    },
    {
      pattern: /critical temperature reached ?\(?(\d{1,3})? ?C?\)?,? ?shutting down/,
      severity: 'critical',
      title: 'Machine too hot',
      verdict: 'The kernel switches the machine off because a sensor reached its critical temperature.',
      remedies: HEAT,
    },
    {
      pattern:
        /power cables? (?:are|is) not (?:properly )?(?:attached|connected)|PCI(?:e| Express) power (?:cable|connector)[^\n]{0,60}\bnot (?:attached|connected|plugged)|connect the PCIe power cables?/i,
      severity: 'critical',
      title: 'GPU without its power cable',
      verdict: "The board's extra power connector has no cable, or gets no power.",
      remedies: [{ text: 'Switch the machine off and check the power cables of the card.' }, ...POWER.slice(1)],
    },
    {
      pattern: /[Tt]hermal(?:ly)?[ -](?:[Tt]hrottl(?:ing|ed|e)\b|slowdown)[^\n]{0,60}/,
      severity: 'warning',
      title: 'GPU slowed down for heat',
      verdict: 'The GPU lowers its clocks because it is too hot, so the work takes longer.',
      remedies: HEAT,
      // CPUs say the same words; a line of a table or a count of nothing is nothing.
      unless: ({ message, match }) =>
        !ABOUT_GPU.test(message) ||
        /\b(?:[Nn]o|[Nn]ot|[Nn]one|0|disabled|false|False)\b/.test(match[0]) ||
        /\b(?:[Nn]o|[Ww]ithout|[Aa]void|[Pp]revent)\s{1,3}(?:GPU )?$/.test(message.slice(0, match.index)),
    },
  ],
})
