// The GPU slows itself down, or stops, for heat or power: as the kernel, the diagnostic tools and monitors write it.
import type { Facts } from '../../model/facts.ts'
import type { Vendor } from '../situation/platform.ts'
import { gpuOf } from './remedies/gpu.ts'
import type { Piece } from './remedies/plan.ts'
import { ruleFamily, type Seen } from './parts/rules.ts'
import { around, known, pciBusId, whole } from './parts/window.ts'

/** AMD's tool counts cards as its driver does; Intel's has no command for a limit. */
export function heatRemedies(facts: Facts, vendor?: Vendor): readonly Piece[] {
  const cooling: Piece = { text: 'Check fans, dust, air flow and the room temperature; on a server also the fan control of the BMC.' }
  const hot = 'See how hot it is, and at which temperature it slows down.'
  if (vendor === 'amd') {
    const card = facts.gpu_index === undefined ? '' : ` -d ${facts.gpu_index}`
    return [
      { text: hot, command: `rocm-smi${card} --showtemp --showpower --showclocks` },
      cooling,
      {
        text: 'Until it is cooled better, lower its power limit: it stays cooler and works slower.',
        command: `sudo rocm-smi${card} --setpoweroverdrive <WATTS>`,
      },
    ]
  }
  if (vendor === 'intel') return [{ text: hot, command: `xpu-smi stats -d ${facts.gpu_index ?? '<GPU>'}` }, cooling]
  return [
    { text: hot, command: `nvidia-smi -q -i ${gpuOf(facts)} -d TEMPERATURE,PERFORMANCE` },
    cooling,
    { text: 'Until it is cooled better, lower its power limit: it stays cooler and works slower.', command: `sudo nvidia-smi -i ${gpuOf(facts)} -pl <WATTS>` },
  ]
}
/** The brake is a signal from outside the card. */
export const brakeRemedies = (facts: Facts): readonly Piece[] => [
  {
    text: "Check the host's power supplies and cables, and the BMC's event log: a power brake comes from outside the GPU.",
    command: 'sudo ipmitool sel elist | tail',
  },
  { text: 'See the draw, the limit and why the clocks are low.', command: `nvidia-smi -q -i ${gpuOf(facts)} -d POWER,PERFORMANCE` },
]
/** The limit is the board's own setting. */
export type PowerLimits = { readonly now?: number | undefined; readonly most?: number | undefined }
export const limitRemedies = (facts: Facts, { now, most }: PowerLimits = {}): readonly Piece[] => [
  most === undefined && {
    text: 'See the draw, the limit and the highest limit that the board allows.',
    command: `nvidia-smi -q -i ${gpuOf(facts)} -d POWER,PERFORMANCE`,
  },
  now !== undefined && most !== undefined
    ? now < most
      ? {
          text: `If it was lowered here, raise it again: the board allows up to ${most} W, with power and cooling for that. Else nothing is wrong.`,
          command: `sudo nvidia-smi -i ${gpuOf(facts)} -pl ${most}`,
        }
      : { text: 'Nothing is wrong: the limit is the highest that the board allows.' }
    : { text: 'If it was lowered, raise it again up to "Max Power Limit"; else nothing is wrong.', command: `sudo nvidia-smi -i ${gpuOf(facts)} -pl <WATTS>` },
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
    'over temperature range',
    'shutdown due to GPU ',
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
    'emperature threshold met on GPU',
    'running too hot! ',
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
      remedies: ({ facts, match, situation }) => (/brake/i.test(match[0]) ? brakeRemedies(facts) : heatRemedies(facts, situation().vendor)),
    },
    {
      // DCGM's health check: Detected clocks event due to thermal violation in GPU 2.
      pattern: /due to (thermal|power) violation in GPU (\d{1,3})/,
      severity: 'warning',
      title: ({ match }) => (match[1] === 'thermal' ? 'GPU slowed down for heat' : 'GPU held back for power'),
      verdict: ({ match }) =>
        match[1] === 'thermal'
          ? `DCGM saw GPU ${match[2]} lower its clocks for heat: it, or its memory, was too hot at some time since the last check, whatever its temperature is now.`
          : `DCGM saw GPU ${match[2]} lower its clocks for power: it reached its limit, or the machine's power supply asked for it.`,
      remedies: ({ facts, match, situation }) => (match[1] === 'thermal' ? heatRemedies(facts, situation().vendor) : limitRemedies(facts)),
    },
    {
      // hashcat counts from 1; miners name the device that they slow down or pause.
      pattern: /Driver temperature threshold met on GPU #(\d{1,3})|(?:Device|GPU) #?(\d{1,3}) is running too hot!/,
      severity: 'warning',
      title: 'GPU slowed down for heat',
      verdict: ({ match, text, at }) => {
        const near = [...around(text, at, 0, 4).matchAll(/(?:Device|GPU) #?(\d{1,3})\s([\w ]{2,12}?) ?temp: ?(\d{2,3}) ?C/gi)]
          .filter(([, id]) => id === match[2])
          .map(([, , what, degrees]) => `${what} ${degrees} °C`)
        return match[1] === undefined
          ? `The program says that device ${match[2]} is too hot${near.length === 0 ? '' : ` (${near.join(', ')})`} and works slower for that. Its limit may be a setting of its own.`
          : `The driver's threshold of temperature was reached on GPU #${match[1]} (hashcat counts from 1): it lowers its clocks.`
      },
      remedies: ({ facts, match, situation }) => [
        ...heatRemedies(facts, situation().vendor),
        match[2] !== undefined && { text: 'If it is cool enough: raise the limit that the program was given.' },
      ],
      facts: ({ match }) => known({ gpu_index: match[1] === undefined ? whole(match[2]) : Number(match[1]) - 1 }),
    },
    {
      pattern: /[Tt]hermal violations? totaling\s{0,3}([\d.]{1,8})?/,
      severity: 'warning',
      title: 'GPU slowed down for heat',
      verdict: ({ match }) =>
        `The diagnostic found that the GPU slowed down for heat${match[1] === undefined ? '' : ` for ${match[1]} s`} during its test: it is not cooled enough.`,
      remedies: ({ facts, situation }) => heatRemedies(facts, situation().vendor),
    },
    {
      pattern:
        /[Pp]ower violations? totaling|(?:HW|[Hh]ardware|[Ee]xternal)?[ _]?[Pp]ower[ _][Bb]rake(?: [Ss]lowdown| [Aa]ssertion)?[^\n]{0,40}\b(?:asserted|engaged|activated|detected|is active)\b/,
      severity: 'warning',
      title: 'GPU held back for power',
      verdict: "The GPU is held back because the machine's power supply asked for it, or because it reached its limit.",
      remedies: ({ facts, match }) => (/brake/i.test(match[0]) ? brakeRemedies(facts) : limitRemedies(facts)),
    },
    {
      pattern: /GPU[^\n]{0,80}\b(?:[Tt]hermal [Ss]hutdown|has overheated|overheated\b)|NVRM[^\n]{0,80}(?:thermal shutdown|overheat)/,
      severity: 'critical',
      title: 'GPU too hot',
      verdict: 'The GPU became so hot that it was or will be switched off to save it.',
      remedies: ({ facts, situation }) => heatRemedies(facts, situation().vendor),
    },
    {
      // amdgpu: CTF is the critical temperature fault. drivers/gpu/drm/amd/pm, kernel 5.4 on.
      pattern: /GPU over temperature range ?\((?:SW|HW) CTF\) detected|shutdown due to GPU (?:SW|HW) CTF/,
      severity: 'critical',
      title: 'GPU too hot',
      verdict: 'The GPU reached its critical temperature, and its driver switches the machine off to save it.',
      remedies: ({ facts }) => heatRemedies(facts, 'amd'),
    },
    {
      pattern: /critical temperature reached ?\(?(\d{1,3})? ?C?\)?,? ?shutting down/,
      severity: 'critical',
      title: 'Machine too hot',
      verdict: 'The kernel switches the machine off because a sensor reached its critical temperature.',
      remedies: ({ facts, situation }) => heatRemedies(facts, situation().vendor),
    },
    {
      pattern:
        /power cables? (?:are|is) not (?:properly )?(?:attached|connected)|PCI(?:e| Express) power (?:cable|connector)[^\n]{0,60}\bnot (?:attached|connected|plugged)|connect the PCIe power cables?/i,
      severity: 'critical',
      title: 'GPU without its power cable',
      verdict: "The board's extra power connector has no cable, or gets no power.",
      remedies: [{ text: 'Switch the host off and check the power cables of the card.' }],
    },
    {
      pattern: /[Tt]hermal(?:ly)?[ -](?:[Tt]hrottl(?:ing|ed|e)\b|slowdown)[^\n]{0,60}/,
      severity: 'warning',
      title: 'GPU slowed down for heat',
      verdict: 'The GPU lowers its clocks because it is too hot, so the work takes longer.',
      remedies: ({ facts, situation }) => heatRemedies(facts, situation().vendor),
      // CPUs say the same words; a line of a table or a count of nothing is nothing.
      unless: ({ message, match }) =>
        !ABOUT_GPU.test(message) ||
        /\b(?:[Nn]o|[Nn]ot|[Nn]one|0|disabled|false|False)\b/.test(match[0]) ||
        /\b(?:[Nn]o|[Ww]ithout|[Aa]void|[Pp]revent)\s{1,3}(?:GPU )?$/.test(message.slice(0, match.index)),
    },
  ],
})
