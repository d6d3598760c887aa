// The summary of waste as text: who held GPUs that ran nothing, what was lost, what that cost by the user's own prices, and what would help.
import type { WasteReport, WasteRow } from '../../agent/model/ledger.ts'
import type { WasteMessage } from '../../agent/model/notification.ts'
import { counted, plural } from '../../agent/text/grammar.ts'
import { hoursText, priceText, slurmNote, wasteHints } from '../../agent/text/waste.ts'
import { clip, oneLine } from './clean.ts'
import { fitted } from './escape.ts'
import { messagePageUrl } from './links.ts'
import { cut } from './outgoing.ts'
import { HTML, MARKDOWN, PLAIN, type Markup } from './render.ts'

const MAX_TEXT = 400
const MAX_ROWS = 40
/** As it leaves the host: no text of it is long. */
export const outgoingWaste = (report: WasteReport): WasteReport => cut(report, MAX_TEXT, MAX_ROWS)

const MAX_NAME = 80
const MAX_HINT = 160
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
/** `Wed 25 Nov`; the date is the host's own, so no zone counts. */
function dayText(date: string): string {
  const day = new Date(`${date}T00:00:00Z`)
  return `${WEEKDAYS[day.getUTCDay()] ?? ''} ${day.getUTCDate()} ${MONTHS[day.getUTCMonth()] ?? ''}`
}
const short = (text: string): string => clip(oneLine(text), MAX_NAME)

/** `gpu-01, Wed 25 Nov: 33.3 GPU hours idle or lost (59.94 EUR)`. */
export function wasteHeadline({ host, period, date, rows }: WasteReport): string {
  const hours = rows.reduce((sum, { gpu_hours_idle: idle, gpu_hours_lost: lost }) => sum + idle + lost, 0)
  const prices = rows.flatMap(({ price }) => price ?? [])
  const price = prices.reduce((sum, one) => sum + one, 0)
  const when = period === 'daily' ? dayText(date) : `week of ${dayText(date)}`
  return `${oneLine(host)}, ${when}: ${hoursText(hours)} GPU hours idle or lost${prices.length === 0 ? '' : ` (${priceText(price, rows[0]?.currency)})`}`
}

/** Whose it is, with the figures, and one line for each thing that would help. */
export type WasteLines = { readonly user: string; readonly figures: string; readonly hints: readonly string[] }
export function wasteLines(row: WasteRow): WasteLines {
  const { user, gpu_hours_held: held, gpu_hours_idle: idle, gpu_hours_lost: lost, price, currency } = row
  const figures = `held ${hoursText(held)} GPU hours: ${hoursText(idle)} idle${lost === 0 ? '' : `, ${hoursText(lost)} lost`}`
  return {
    user: user === undefined ? 'User not known' : short(user),
    figures: `${figures}${price === undefined ? '' : ` (${priceText(price, currency)})`}`,
    hints: wasteHints(row).map(({ job, slurm_job, text }) =>
      job === undefined ? text : `${short(job)}${slurmNote(slurm_job)}: ${clip(oneLine(text), MAX_HINT)}`,
    ),
  }
}

export type WasteMessageText = { readonly headline: string; readonly reports: readonly { readonly title: string; readonly rows: readonly WasteLines[] }[] }
export function wasteMessageText({ waste, host }: WasteMessage): WasteMessageText {
  const reports = waste.map((report) => ({ title: wasteHeadline(report), rows: report.rows.map(wasteLines) }))
  const [only, ...more] = reports
  return {
    headline:
      more.length === 0 && only !== undefined ? only.title : `${oneLine(host)}: ${counted(reports.length, 'summary', 'summaries')} of GPU time idle or lost`,
    reports,
  }
}

/** One paragraph each, who wasted most first. */
export function wasteParagraphs(message: WasteMessage, { text, strong }: Markup): readonly string[] {
  const { reports } = wasteMessageText(message)
  const { expired, waste, host, base_url: base } = message
  const days = waste.some(({ period }) => period === 'weekly') ? 8 : 2
  const page = base === undefined ? '' : `; or ${base}/#/waste?days=${days}`
  const runbook = messagePageUrl(message, 'waste_summary')
  return [
    ...reports.flatMap(({ title, rows }) => [
      ...(reports.length === 1 ? [] : [strong(title)]),
      ...rows.map(({ user, figures, hints }) => [`${strong(`${user}:`)} ${text(figures)}`, ...hints.map((hint) => `• ${text(hint)}`)].join('\n')),
    ]),
    text(
      `Nothing was stopped or changed. By job, on ${oneLine(host)}: warpwatch jobs --waste --since ${days}d${page}${runbook === undefined ? '' : `. What to do: ${runbook}`}`,
    ),
    ...(expired === undefined
      ? []
      : [text(`${counted(expired.count, 'earlier notification')} could not be delivered here in time and ${plural(expired.count, 'was', 'were')} dropped.`)]),
  ]
}

/** At most `most` characters, ending after a whole paragraph. */
function rendered(message: WasteMessage, markup: Markup, most: number): string {
  let whole = fitted(wasteMessageText(message).headline, most, markup.strong)
  for (const paragraph of wasteParagraphs(message, markup)) {
    if (whole.length + 1 + paragraph.length > most) break
    whole += `\n${paragraph}`
  }
  return whole
}
export const plainWaste = (message: WasteMessage, most = 16_000): string => rendered(message, PLAIN, most)
export const markdownWaste = (message: WasteMessage, most = 16_000): string => rendered(message, MARKDOWN, most)
export const htmlWaste = (message: WasteMessage, most = 16_000): string => rendered(message, HTML, most)
