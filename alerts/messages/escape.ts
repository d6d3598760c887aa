// Text from outside (logs, names, commands) made harmless for Slack, Markdown and HTML: it cannot become a link, a mention or markup.
// Slack has no way to escape `*`, `_`, `~` and backticks, and the dialects of Markdown differ in theirs. So a word that could be read as
// markup is shown as code, where nothing is read: `PYTORCH_CUDA_ALLOC_CONF` is what people expect to see so anyway.
import { clean, clip } from './clean.ts'

type Dialect = {
  /** Words that could be more than text. */
  readonly risky: RegExp
  /** Words that are more than text at the beginning of a line. */
  readonly leading: RegExp
  /** What must be written otherwise wherever it stands, code included. */
  readonly encode: (text: string) => string
}

// docs.slack.dev/messaging/formatting-message-text: & < > are for Slack's own parsing, as entities they are text, in code as well. An `&gt;` at the
// beginning of a line is a quote nevertheless. URLs and names are found by themselves only without `verbatim`; those who repeat a message may find them.
const slack: Dialect = {
  risky: /[*_~`]|:\/\/|^www\.|^mailto:|@(?:here|channel|everyone)|(?<!\d):[a-z0-9_+'-]+:/i,
  leading: /^>/,
  encode: (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'),
}

// CommonMark, with the mentions and spoilers of Discord and the names that Mattermost knows.
const markdown: Dialect = {
  risky: /[*_~`[\]<>|\\#]|&#?\w+;|:\/\/|^www\.|^mailto:|@\w|(?<!\d):[a-z0-9_+'-]+:/i,
  leading: /^(?:[-+=]|\d+[.)])/,
  // Mattermost makes mentions out of `<!channel>` before it looks at the Markdown, so a character without width parts both kinds.
  encode: (text) => text.replace(/@(?=everyone|here|channel|all)/gi, '@\u200b').replace(/<(?=[!@#])/g, '<\u200b'),
}

/** No font tells them apart; U+02CB begins no code. */
const BACKTICK = 'ˋ'

/** Brackets and punctuation around a word stay outside of the code. */
const WORD = /^([("']*)(.*?)([)"'.,;:!?]*)$/su

function word(text: string, { risky, leading, encode }: Dialect, first: boolean): string {
  if (!risky.test(text) && !(first && leading.test(text))) return encode(text)
  const [, before = '', core = '', after = ''] = WORD.exec(text) ?? []
  return core === '' ? encode(text) : `${before}\`${encode(core.replaceAll('`', BACKTICK))}\`${after}`
}

const escapeBy =
  (dialect: Dialect) =>
  (text: string): string =>
    clean(text)
      .split('\n')
      // Four spaces before text are code in Markdown, and dialects differ in what else may be before a list: of what leads a line nothing is needed.
      .map((line) =>
        line
          .trimStart()
          .split(' ')
          .map((one, i) => word(one, dialect, i === 0))
          .join(' '),
      )
      .join('\n')

/** Lines as they are. Three backticks would end a block; fewer do not, so that commands can be copied. */
const blockBy =
  ({ encode }: Dialect) =>
  (text: string): string =>
    `\`\`\`\n${encode(clean(text).replace(/`{3,}/g, (run) => BACKTICK.repeat(run.length)))}\n\`\`\``

export const escapeSlack = escapeBy(slack)
export const slackBlock = blockBy(slack)
export const escapeMarkdown = escapeBy(markdown)
export const markdownBlock = blockBy(markdown)

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
/** For text and for attributes in quotes. */
export const escapeHtml = (text: string): string => clean(text).replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char)

/** A URL that ends where it should, inside of `<…|…>`, `(…)` and quotes; the brackets of an IPv6 address may stay. */
export const linkTarget = (url: string): string =>
  clean(url).replace(/[<>|"'`()\\\s]/g, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`)

/** The longest beginning of a text that, once escaped, is no longer than `most`. */
export function fitted(text: string, most: number, escape: (text: string) => string): string {
  let length = Math.min(text.length, most)
  let out = escape(clip(text, length))
  while (out.length > most && length > 1) {
    length = Math.min(length - 1, Math.floor((length * most) / out.length))
    out = escape(clip(text, length))
  }
  return out.length > most ? '' : out
}
