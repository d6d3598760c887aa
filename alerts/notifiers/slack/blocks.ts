// A message as Slack's blocks, within Slack's limits whatever comes in.
import type { Severity } from '../../../agent/model/severity.ts'
import type { Message, RunMessage, WasteMessage } from '../../../agent/model/notification.ts'
import { escapeSlack, fitted, linkTarget, slackBlock } from '../../messages/escape.ts'
import { EXTENTS, otherLines, incidentParts, type Markup } from '../../messages/render.ts'
import { runMessageText, runParagraphs } from '../../messages/run-text.ts'
import { wasteMessageText, wasteParagraphs } from '../../messages/waste-text.ts'
import { messageText, type MessageText } from '../../messages/message-text.ts'

/** Without `emoji` a name such as `:fire:` stays text. */
type PlainText = { readonly type: 'plain_text'; readonly text: string; readonly emoji: boolean }
/** Verbatim: nothing in it becomes a link or a name by itself. */
type Mrkdwn = { readonly type: 'mrkdwn'; readonly text: string; readonly verbatim: true }
export type Block = { readonly type: 'header'; readonly text: PlainText } | { readonly type: 'section'; readonly text: Mrkdwn } | { readonly type: 'divider' }

/** docs.slack.dev/reference/block-kit: 150 characters in a header, 3,000 in a section's text, 50 blocks in a message. */
const MOST_HEADER = 150
const MOST_SECTION = 3_000
const MOST_BLOCKS = 50
/** `msg_blocks_too_long` is documented nowhere; it was seen from 11,341 characters of text on (slackapi/bolt-js#2867), its sum counts the blocks too. */
const MOST_OF_ALL = 10_000

const MRKDWN: Markup = {
  text: (text) => fitted(text, 1_400, escapeSlack),
  strong: (text) => `*${fitted(text, 1_400, escapeSlack)}*`,
  block: (text) => fitted(text, 1_400, slackBlock),
  link: ({ text, url }) => `<${linkTarget(url).replaceAll('&', '&amp;')}|${escapeSlack(text)}>`,
}

const section = (text: string): Block => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } })

/** Paragraphs put together into as few sections as hold them. */
function sections(paragraphs: readonly string[]): readonly Block[] {
  const texts: string[] = []
  for (const paragraph of paragraphs) {
    const last = texts.at(-1)
    if (last !== undefined && last.length + 1 + paragraph.length <= MOST_SECTION) texts[texts.length - 1] = `${last}\n${paragraph}`
    else texts.push(paragraph)
  }
  return texts.filter((text) => text !== '' && text.length <= MOST_SECTION).map(section)
}

const MARK: Readonly<Record<Severity, string>> = { critical: '🔴', warning: '🟠', info: '🔵' }
const OVER = '✅'

/** Slack shows entities of a plain text as what they stand for, and takes bare ones for its own. */
const entities = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** What a phone shows of the message, and what is above it. */
export function headlineText({ headline, severity }: MessageText): string {
  return `${severity === undefined ? OVER : MARK[severity]} ${headline}`
}

function blocksOf(words: MessageText): readonly Block[] {
  const { incidents, others, more, notes } = words
  const headline = headlineText(words)
  const alone = incidents.length === 1 && others.length === 0 && more.length === 0
  const whole = entities(headline).length <= MOST_HEADER
  return [
    header(headline),
    ...(whole ? [] : [section(MRKDWN.strong(headline))]),
    ...incidents.flatMap((incident, i) => [
      ...(i === 0 ? [] : [{ type: 'divider' } as const]),
      ...sections([...(alone ? [] : [MRKDWN.strong(incident.headline)]), ...incidentParts(incident, MRKDWN)]),
    ]),
    ...(others.length === 0 && more.length === 0 ? [] : [{ type: 'divider' } as const, ...sections([MRKDWN.strong('Also:'), ...otherLines(words, MRKDWN)])]),
    ...sections(notes.map(MRKDWN.text)),
  ]
}

export function runHeadlineText(message: RunMessage): string {
  const { headline, isBad } = runMessageText(message)
  return `${isBad ? MARK.warning : OVER} ${headline}`
}

const header = (headline: string): Block => ({ type: 'header', text: { type: 'plain_text', text: fitted(headline, MOST_HEADER, entities), emoji: false } })

const size = (blocks: readonly Block[]): number => JSON.stringify(blocks).length

export function messageBlocks(message: Message): readonly Block[] {
  let blocks: readonly Block[] = []
  for (const extent of EXTENTS) {
    blocks = blocksOf(messageText(message, extent))
    if (blocks.length <= MOST_BLOCKS && size(blocks) <= MOST_OF_ALL) return blocks
  }
  return shortened(blocks)
}

export const runBlocks = (message: RunMessage): readonly Block[] =>
  shortened([header(runHeadlineText(message)), ...sections(runParagraphs(runMessageText(message), MRKDWN))])

export const wasteHeadlineText = (message: WasteMessage): string => `${MARK.info} ${wasteMessageText(message).headline}`

export const wasteBlocks = (message: WasteMessage): readonly Block[] =>
  shortened([header(wasteHeadlineText(message)), ...sections(wasteParagraphs(message, MRKDWN))])

function shortened(blocks: readonly Block[]): readonly Block[] {
  // The first sections say what and why, and the notes at the end can be read on the host.
  const short: Block[] = []
  for (const block of blocks) {
    if (short.length === MOST_BLOCKS || size([...short, block]) > MOST_OF_ALL) break
    short.push(block)
  }
  return short
}
