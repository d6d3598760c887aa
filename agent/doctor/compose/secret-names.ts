// Which settings are secrets: by their names, unless what they hold cannot be one, and by the form of the value.
import { redact } from '../../lib/redact.ts'

const WORDS = new Set(['PASSWORD', 'PASSWD', 'PASS', 'PWD', 'PASSPHRASE', 'SECRET', 'SECRETS', 'TOKEN', 'APIKEY', 'CREDENTIAL', 'CREDENTIALS', 'KEY'])
/** A key that need not be hidden, or a name of something else. */
const PUBLIC =
  /PUBLIC|KEY_?(?:FILE|PATH|NAME|ID|PREFIX|TYPE|ALGORITHM)|SORT_?KEY|PRIMARY_?KEY|FOREIGN_?KEY|(?:PAD|EOS|BOS|UNK|STOP|MASK|SPECIAL|MAX|MIN|NEW|ALLOW|REQUIRE|ENABLE|DISABLE|USE)_/
/** Of what cannot be secret: flags, small numbers, paths, words for nothing, and what means a value that is yet to come. */
const HARMLESS =
  /^(?:true|false|yes|no|on|off|none|null|nil|empty|dummy|na|n\/a|not[-_ ]?(?:needed|used|required)|no[-_ ]?key(?:[-_ ]required)?|sk-no-key-required|[x*.]+|<.*>|your[-_ ].*|\d{1,5}|\.{0,2}\/[\w./-]*|file:.*)$/i

export function isSecret(name: string, value: string): boolean {
  const text = value.trim()
  if (text === '' || HARMLESS.test(text)) {
    // A password may well be a small number.
    if (!(/^\d{1,5}$/.test(text) && /PASS/i.test(name))) return false
  }
  // A token by its form, or a URL with a password in it.
  if (redact(text) !== text) return true
  const upper = name
    .replaceAll('-', '_')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toUpperCase()
  const words = upper.split(/[_.-]+/).filter((word) => word !== '')
  // The last word says what it is: MAX_TOKENS and TOKENIZERS_PARALLELISM hold none, PASSWORD_FILE names a file.
  return WORDS.has(words.at(-1) ?? '') && !PUBLIC.test(upper)
}
