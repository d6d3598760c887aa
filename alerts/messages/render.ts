// From the parts of a message to text in one markup: plain, Markdown, HTML; Slack's blocks take the same paragraphs.
import type { Message } from '../../agent/model/notification.ts'
import { clean } from './clean.ts'
import { escapeHtml, escapeMarkdown, fitted, linkTarget, markdownBlock } from './escape.ts'
import type { Link } from './links.ts'
import type { IncidentText } from './incident-text.ts'
import { messageText, type Extent, type MessageText } from './message-text.ts'

export type Markup = {
  readonly text: (text: string) => string
  readonly strong: (text: string) => string
  /** Lines as they are, on lines of their own. */
  readonly block: (text: string) => string
  readonly link: (link: Link) => string
}

export const PLAIN: Markup = {
  text: clean,
  strong: clean,
  block: (text) => `  ${clean(text).replaceAll('\n', '\n  ')}`,
  link: ({ text, url }) => `${text}: ${linkTarget(url)}`,
}
export const MARKDOWN: Markup = {
  text: escapeMarkdown,
  strong: (text) => `**${escapeMarkdown(text)}**`,
  block: markdownBlock,
  link: ({ text, url }) => `[${text}](${linkTarget(url)})`,
}
/** The few elements that chats know as well; ends of lines are ends of lines, as in `<pre>`. */
export const HTML: Markup = {
  text: escapeHtml,
  strong: (text) => `<b>${escapeHtml(text)}</b>`,
  block: (text) => `<pre>${escapeHtml(text)}</pre>`,
  link: ({ text, url }) => `<a href="${escapeHtml(linkTarget(url))}">${escapeHtml(text)}</a>`,
}

/** One paragraph each, what matters most first, so that a short message can end after any of them. */
export function incidentParts(incident: IncidentText, { text, strong, block, link }: Markup): readonly string[] {
  const { resolved, why, when, where, remedies, moreRemedies, log, spark, figures, followed, began, links, directions } = incident
  const line = (label: string, words: string): string => `${strong(`${label}:`)} ${text(words)}`
  return [
    line(resolved ? 'Over' : 'Why', why),
    ...remedies.map(
      (remedy, i) =>
        `${i === 0 ? `${strong('What to do:')}\n` : ''}${i + 1}. ${text(remedy.text)}${remedy.command === undefined ? '' : `\n${block(remedy.command)}`}`,
    ),
    ...(moreRemedies === 0 ? [] : [`${moreRemedies} more: see the incident.`]),
    line('Where', where),
    line(resolved ? 'When' : 'Since', when),
    ...(figures.length === 0 ? [] : [line('Figures', figures.join(', '))]),
    ...(spark === undefined ? [] : [`${strong(`${spark.title}:`)}\n${block(spark.line)}`]),
    ...(log.length === 0 ? [] : [`${strong('Log:')}\n${block(log.join('\n'))}`]),
    ...(followed.length === 0 ? [] : [line('What followed', followed.join('; '))]),
    ...(began === undefined ? [] : [line('It began with', began)]),
    ...(directions === undefined
      ? [links.map(link).join('\n')]
      : [
          `${strong('Dashboard:')} ${text(`${directions.place} only. From your machine:`)}\n${block(directions.lines.join('\n'))}\n${text(`Or ${directions.place}: ${directions.command}`)}`,
        ]),
  ]
}

/** What is said of those without a section of their own, one line each. */
export function otherLines({ others, more }: MessageText, { text }: Markup): readonly string[] {
  const left = more.slice(0, 6)
  const beyond = more.length > left.length ? ` and ${more.length - left.length} other faults` : ''
  return [...others.map((one) => `• ${text(one)}`), ...(left.length === 0 ? [] : [`and ${text(left.join(', '))}${beyond}`])]
}

/** From all to hardly anything: the first that is short enough is taken. */
export const EXTENTS: readonly Extent[] = [
  { incidents: 3, others: 20 },
  { incidents: 2, others: 8 },
  { incidents: 1, others: 5 },
  { incidents: 1, others: 0 },
]

function paragraphs(words: MessageText, markup: Markup): readonly string[] {
  const alone = words.incidents.length === 1 && words.others.length === 0 && words.more.length === 0
  const others = otherLines(words, markup)
  return [
    ...words.incidents.flatMap((incident) => ['', ...(alone ? [] : [markup.strong(incident.headline)]), ...incidentParts(incident, markup)]),
    ...(others.length === 0 ? [] : ['', markup.strong('Also:'), ...others]),
    ...words.notes.flatMap((note) => ['', markup.text(note)]),
  ]
}

/** At most `most` characters; where even the least is too long, it ends after a whole paragraph. */
export function rendered(message: Message, markup: Markup, most: number): string {
  let lines: readonly string[] = []
  for (const extent of EXTENTS) {
    const words = messageText(message, extent)
    lines = [markup.strong(words.headline), ...paragraphs(words, markup)]
    const whole = lines.join('\n')
    if (whole.length <= most) return whole
  }
  const [headline = '', ...rest] = lines
  let short = headline.length <= most ? headline : fitted(messageText(message).headline, most, markup.text)
  for (const line of rest) {
    if (short.length + 1 + line.length > most) break
    short += `\n${line}`
  }
  return short.trimEnd()
}

/** 16,000 characters are more than any chat shows at once; most receivers take fewer and say so. */
export const plainText = (message: Message, most = 16_000): string => rendered(message, PLAIN, most)
export const markdownText = (message: Message, most = 16_000): string => rendered(message, MARKDOWN, most)
export const htmlText = (message: Message, most = 16_000): string => rendered(message, HTML, most)
