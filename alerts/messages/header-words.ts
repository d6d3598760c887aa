// Text as the value of a header: headers are ASCII, other letters travel as encoded words (RFC 2047), which mail and ntfy read.
import { oneLine } from './clean.ts'

/** Bytes of text in one word: 75 characters with what is around them, in base64. */
const MAX_WORD_BYTES = 45

export function headerWords(text: string, most: number): string {
  const line = oneLine(text).slice(0, most).trim()
  if (/^[\x20-\x7e]*$/.test(line) && !line.includes('=?')) return line
  const words: string[] = []
  let word = ''
  // A letter must not be torn apart between two words.
  for (const letter of line.toWellFormed()) {
    if (Buffer.byteLength(word + letter) > MAX_WORD_BYTES) {
      words.push(word)
      word = ''
    }
    word += letter
  }
  return [...words, word].map((one) => `=?UTF-8?B?${Buffer.from(one).toString('base64')}?=`).join(' ')
}
