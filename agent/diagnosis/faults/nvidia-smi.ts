// Pasted output of nvidia-smi that shows a fault: uncorrected memory errors, repairs that wait, a slow-down, a card that does not answer.
import type { Facts } from '../../model/facts.ts'
import type { FaultFamily, LogText, Recognised } from './family.ts'
import type { Situation } from '../situation/situation.ts'
import { eccRemedies } from './ecc-error.ts'
import { kernelLines, REBOOT, resetGpu, TheGpu } from './remedies/gpu.ts'
import { plan } from './remedies/plan.ts'
import { rowsBelow, type Row } from './nvidia-smi/csv.ts'
import { fieldOf, memoryFault, partFrom, reasonOf, type Part } from './nvidia-smi/fields.ts'
import { brokenIn, cardRow } from './nvidia-smi/table.ts'
import { known, pciBusId, whole } from './parts/window.ts'
import { brakeRemedies, heatRemedies, limitRemedies, type PowerLimits } from './thermal-or-power.ts'

function memory(what: readonly string[], facts: Facts, lines: readonly number[], situation: Situation): Recognised {
  const uncorrected = what.some((one) => /ncorrect|fail|double/i.test(one))
  const pending = what.some((one) => /pending|waits/i.test(one))
  const then = uncorrected
    ? 'Its results are not to be trusted until it was reset.'
    : pending
      ? 'A repair is pending: it takes effect at the next reset.'
      : 'The errors were corrected.'
  return {
    kind: 'ecc_error',
    severity: 'critical',
    title: 'GPU memory has errors',
    verdict: `${TheGpu(facts)} reports: ${what.join(', ')}. ${then}`,
    facts,
    remedies: plan(eccRemedies(facts, situation, what.join(' '))),
    lines,
  }
}

/** Where the report is of one card. */
function temperatureIn(text: LogText): string {
  const found = new Set(
    Array.from(
      text.join('\n').matchAll(/GPU Current Temp {1,40}: (\d{2,3}) C|\| {0,6}(?:\d{1,3}%|N\/A) {1,6}(\d{2,3})C /g),
      ([, report, table]) => report ?? table,
    ),
  )
  const [only] = found
  return found.size === 1 && only !== undefined ? ` at ${only} °C${limitNear(Number(only), text)}` : ''
}
/** The driver lowers the clocks above either of two limits: of the chip, and of its memory. */
function limitNear(chip: number, text: LogText): string {
  const all = text.join('\n')
  const field = (name: string): number | undefined => whole(new RegExp(`${name} {1,40}: (\\d{2,3}) C`).exec(all)?.[1])
  // The board itself slows the chip down above a limit of its own.
  const slowdown = /HW (?:Thermal )?Slowdown {1,40}: Active/.test(all) ? field('GPU Slowdown Temp') : undefined
  if (slowdown !== undefined && chip >= slowdown - NEAR) return `, with its limit at ${slowdown} °C`
  const [limit, memory, most] = [field('GPU Max Operating Temp'), field('Memory Current Temp'), field('Memory Max Operating Temp')]
  if (limit !== undefined && chip >= limit - NEAR) return `, with its limit at ${limit} °C`
  return memory !== undefined && most !== undefined && memory >= most - NEAR ? `, its memory at ${memory} °C with its limit at ${most} °C` : ''
}
const NEAR = 3

/** In watts, where the report is of one card: the limit now, and the highest one that the board allows. */
function limitsIn(text: LogText): PowerLimits {
  const all = text.join('\n')
  const only = (field: string): number | undefined => {
    const found = [...all.matchAll(new RegExp(`^\\s{1,20}${field} {1,40}: (\\d{1,5})\\.\\d\\d W`, 'gm'))]
    return found.length === 1 ? whole(found[0]?.[1]) : undefined
  }
  return { now: only('(?:Current )?Power Limit') ?? only('Enforced Power Limit'), most: only('Max Power Limit') }
}
function slowed(reasons: readonly string[], facts: Facts, lines: readonly number[], temperature = '', limits: PowerLimits = {}): Recognised {
  const heat = reasons.some((reason) => reason.includes('Thermal'))
  const brake = reasons.includes('HW Power Brake Slowdown')
  const cap = reasons.every((reason) => reason === 'SW Power Cap')
  const named = (one: RegExp): string => reasons.filter((reason) => one.test(reason)).join(', ')
  const why = [
    heat
      ? `${/limit at (?:[1-6]\d|7[0-4]) °C/.test(temperature) ? `its temperature reached a limit that is set unusually low,${temperature.replace(', with its limit', ', with the limit')}` : `it is too hot${temperature}`} (${named(/Thermal/)})`
      : undefined,
    brake ? `the host's power supply asks for it (${named(/Brake/)})` : undefined,
    reasons.includes('SW Power Cap') ? `it has reached its power limit (SW Power Cap${limits.now === undefined ? '' : `, ${limits.now} W`})` : undefined,
    !heat && !brake && !cap ? `the board asks for it, because of heat or power (${named(/Slowdown/)})` : undefined,
  ].filter((one) => one !== undefined)
  return {
    kind: 'thermal_or_power',
    severity: cap ? 'info' : 'warning',
    title: cap ? 'GPU at its power limit' : 'GPU slowed down',
    verdict: `${TheGpu(facts)} lowers its clocks because ${why.join(', and because ')}.${cap ? ' Under full load this is normal.' : ''}`,
    facts: { ...facts, active_reasons: reasons },
    remedies: plan(heat && heatRemedies(facts), brake && brakeRemedies(facts), !heat && !brake && limitRemedies(facts, limits)),
    lines,
  }
}

// Signs of a whole report: there a GPU at its power limit is a busy one, and nobody pointed at it.
const WHOLE = /FB Memory Usage|<fb_memory_usage>|Product Name|<product_name>/

/** Of the block "Remapped Rows", whose counts alone are history and no fault. */
function remapped({ fields }: Part): string {
  const rows = fields.find(({ key, value }) => key === 'uncorrectable_error' && /^[1-9]\d{0,5}$/.test(value))?.value
  return rows === undefined ? '' : ` (${rows === '1' ? '1 row was' : `${rows} rows were`} remapped for errors that ECC could not correct)`
}

function fromFields(text: LogText, part: Part, situation: Situation): readonly Recognised[] {
  const facts = known({ gpu_index: part.index, pci_bus_id: part.card === undefined ? undefined : pciBusId(part.card) })
  const bad = part.fields.flatMap((field) => {
    const what = memoryFault(field)
    return what === undefined ? [] : [{ what: what.startsWith('row remap pending') ? `${what}${remapped(part)}` : what, line: field.line }]
  })
  const active = part.fields.flatMap((field) => {
    const reason = field.value.startsWith('Active') ? reasonOf(field.key) : undefined
    return reason === undefined ? [] : [{ reason, line: field.line }]
  })
  const found: Recognised[] = []
  if (bad.length > 0)
    found.push(
      memory(
        [...new Set(bad.map(({ what }) => what))],
        facts,
        bad.map(({ line }) => line),
        situation,
      ),
    )
  const reasons = active.map(({ reason }) => reason)
  const telling = reasons.some((reason) => reason !== 'SW Power Cap') || (reasons.length > 0 && !text.some((line) => WHOLE.test(line)))
  if (telling)
    found.push(
      slowed(
        [...new Set(reasons)],
        facts,
        active.map(({ line }) => line),
        temperatureIn(text),
        limitsIn(text),
      ),
    )
  return found
}

/** Bits of the event reasons that slow a GPU down (nvml.h, nvmlClocksEventReason…). */
const BITS: readonly (readonly [bit: number, reason: string])[] = [
  [0x08, 'HW Slowdown'],
  [0x20, 'SW Thermal Slowdown'],
  [0x40, 'HW Thermal Slowdown'],
  [0x80, 'HW Power Brake Slowdown'],
]

function fromRow({ line, cells }: Row, situation: Situation): readonly Recognised[] {
  const bus = cells.get('pci.bus_id') ?? cells.get('gpu_bus_id')
  const facts = known({ gpu_index: whole(cells.get('index')), pci_bus_id: bus === undefined ? undefined : pciBusId(bus) })
  const bad: string[] = []
  const reasons: string[] = []
  for (const [name, value] of cells) {
    if (name.startsWith('ecc.errors.uncorrected.') && (whole(value) ?? 0) > 0) bad.push(`uncorrected errors: ${value}`)
    if (/^(?:retired_pages\.pending|remapped_rows\.pending)$/.test(name) && /^(?:Yes|1)$/.test(value)) bad.push('a repair is pending until a GPU reset')
    if (name === 'remapped_rows.failure' && /^(?:Yes|1)$/.test(value)) bad.push('a row remap failed')
    const reason = value === 'Active' ? reasonOf(name) : undefined
    if (reason !== undefined && reason !== 'SW Power Cap') reasons.push(reason)
    if (/^clocks_(?:throttle|event)_reasons\.active$/.test(name) && /^0x[0-9a-fA-F]{1,16}$/.test(value)) {
      const mask = Number.parseInt(value.slice(-8).replace(/^.*x/, ''), 16)
      for (const [bit, bitReason] of BITS) if ((mask & bit) !== 0) reasons.push(bitReason)
    }
  }
  const found: Recognised[] = []
  if (bad.length > 0) found.push(memory([...new Set(bad)], facts, [line], situation))
  if (reasons.length > 0) found.push(slowed([...new Set(reasons)], facts, [line]))
  return found
}

function fromTable(text: LogText, at: number): Recognised | undefined {
  const broken = brokenIn(text[at] ?? '')
  if (broken === undefined) return undefined
  const card = cardRow(text[at - 1] ?? '')
  const facts = known({ gpu_index: card?.index, pci_bus_id: card === undefined ? undefined : pciBusId(card.pci) })
  const lines = card === undefined ? [at] : [at, at - 1]
  if (broken === 'fan') {
    return {
      kind: 'thermal_or_power',
      severity: 'warning',
      title: "GPU's fan cannot be read",
      verdict: `${TheGpu(facts)} reports no fan speed: the fan or its sensor has failed.`,
      facts,
      remedies: plan(heatRemedies(facts)),
      lines,
    }
  }
  return {
    kind: 'gpu_lost',
    severity: 'critical',
    title: 'GPU does not answer',
    verdict: `${TheGpu(facts)} is listed, but its sensors cannot be read (ERR!): it hangs or is lost.`,
    facts,
    remedies: plan(kernelLines(facts, 'See what the kernel says about it.'), resetGpu(facts), REBOOT),
    lines,
  }
}

/** Rows of the table below its head line whose ECC cell counts errors. */
function eccInTable(text: LogText, at: number, situation: Situation): readonly Recognised[] {
  const found: Recognised[] = []
  for (let line = at + 1; line < text.length && line < at + 80; line++) {
    const card = cardRow(text[line] ?? '')
    if (card?.uncorrected === undefined || card.uncorrected === 0) continue
    found.push(
      memory(
        [`uncorrected errors since the driver was loaded: ${card.uncorrected}`],
        { gpu_index: card.index, pci_bus_id: pciBusId(card.pci) },
        [line],
        situation,
      ),
    )
  }
  return found
}

function recognise(text: LogText, at: number, situation: () => Situation): Recognised | readonly Recognised[] | undefined {
  const line = text[at] ?? ''
  if (line.includes('ERR!')) return fromTable(text, at)
  if (line.includes('Volatile Uncorr. ECC')) return eccInTable(text, at, situation())
  const rows = rowsBelow(text, at)
  if (rows.length > 0) return rows.flatMap((row) => fromRow(row, situation()))
  // A heading, or a field that is well: those below may not be. Lines in which a fault was found are not asked again.
  return fieldOf(line) === undefined && !/Remapped Rows|Retired Pages|Double Bit\s*$|<remapped_rows?>|<double_bit>/.test(line)
    ? undefined
    : fromFields(text, partFrom(text, at), situation())
}

export const nvidiaSmi: FaultFamily = {
  id: 'nvidia-smi',
  kinds: ['ecc_error', 'thermal_or_power', 'gpu_lost'],
  literals: [
    // ERR! in each of its columns: short literals would slow the search for all
    '|ERR!   ',
    '|ERR!  E',
    '| ERR!  ',
    '  ERR!  ',
    ' ERR! ERR!',
    ' ERR! / ',
    '/ ERR! |',
    'Volatile Uncorr. ECC',
    'SRAM Uncorrectable',
    'DRAM Uncorrectable',
    'Double Bit',
    '<double_bit>',
    'Remapped Rows',
    'Remapping Failure Occurred',
    'Pending Page Blacklist',
    'SRAM Threshold Exceeded',
    '_uncorrectable',
    '<remapped_row',
    '<pending_',
    'ecc.errors.uncorrected',
    'retired_pages.pending',
    'remapped_rows.',
    'clocks_throttle_reason',
    'clocks_event_reason',
    'HW Slowdown',
    'HW Thermal Slowdown',
    'HW Power Brake Slowdown',
    'SW Thermal Slowdown',
    'SW Power Cap',
  ],
  recognise,
}
