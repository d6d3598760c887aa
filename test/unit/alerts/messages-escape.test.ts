// No text from outside can become a link, a mention or markup, or hide what it says, in any of the markups; and it stays readable.
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { clean, clip } from '../../../alerts/messages/clean.ts'
import { escapeHtml, escapeMarkdown, escapeSlack, fitted, linkTarget, markdownBlock, slackBlock } from '../../../alerts/messages/escape.ts'

/** Pieces out of which forgeries are made, between words, all kinds of characters, and whatever comes. */
const MENTIONS = ['<!channel>', '<@U0123>', '@here', '@everyone', '@channel', ':fire:', '<t:0>']
const LINKS = ['<https://evil.example|Open incident>', 'https://evil.example/x', '[Runbook](http://evil.example)', '![x](y)', 'www.evil.example', 'mailto:a@b']
const SIGNS = [
  ...'* _ ~ ` < > & | \\ " . ) ( [ ]'.split(' '),
  "'",
  '``',
  '```',
  '```\n',
  '> ',
  '||',
  '# ',
  '- ',
  '1. ',
  '&lt;',
  '&amp;lt;',
  '&#60;',
  '<img src=x onerror=1>',
]
const SPACES = ['\n', '\r\n', ' ', '  ', '    ', '\t', '\u2028']
const UNSEEN = ['\u202e', '\u200b', '\u2066', '\u001b[31m', '\u001b]8;;http://evil.example\u0007', '\0', '\u0007', '\ud83d']
const WORDS = ['GPU', '0', 'a_b', 'PYTORCH_CUDA_ALLOC_CONF=x', '😀']
const PIECES = [...MENTIONS, ...LINKS, ...SIGNS, ...SPACES, ...UNSEEN, ...WORDS]
const hostile = fc.array(fc.oneof(fc.constantFrom(...PIECES), fc.string({ unit: 'binary', maxLength: 8 })), { maxLength: 24 }).map((pieces) => pieces.join(''))

/** What a reader of the markup takes for text outside of code, and for code. Code begins and ends with one backtick, as no line holds more. */
function parts(line: string): { readonly outside: string; readonly code: readonly string[] } {
  const pieces = line.split('`')
  expect(pieces.length % 2, `backticks in pairs: ${line}`).toBe(1)
  return { outside: pieces.filter((_, i) => i % 2 === 0).join('\u0000'), code: pieces.filter((_, i) => i % 2 === 1) }
}
const decoded = (text: string): string => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
/** What a person reads, whatever is code or not. */
const read = (text: string): string => text.replaceAll('`', '').replaceAll('\u200b', '').replace(/ +/g, ' ').replace(/^ /gm, '')
const meant = (text: string): string =>
  clean(text)
    .replaceAll('`', 'ˋ')
    .replace(/ +/g, ' ')
    .replace(/^[^\S\n]+/gm, '')

describe('Slack', () => {
  test('outside of code there is no character of its markup, and no control sequence anywhere', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const line of escapeSlack(text).split('\n')) {
          const { outside, code } = parts(line)
          expect(outside).not.toMatch(/[*_~<>]|:\/\/|@(?:here|channel|everyone)/i)
          expect(outside).not.toMatch(/^&gt;/)
          expect(code.every((one) => one !== '')).toBe(true)
          expect(line).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/)
        }
      }),
      { numRuns: 2_000 },
    )
  })
  test('people read what was written', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(decoded(read(escapeSlack(text)))).toBe(meant(text))
      }),
    )
  })
  test('nothing ends a block but its end', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const block = slackBlock(text)
        expect(block.startsWith('```\n') && block.endsWith('\n```')).toBe(true)
        expect(block.slice(4, -4)).not.toMatch(/```|[<>]/)
      }),
    )
  })
  test('what people know stays as they know it', () => {
    expect(escapeSlack('Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, then restart (GPU 0 & 1).')).toBe(
      'Set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, then restart (GPU 0 &amp; 1).',
    )
    expect(escapeSlack('<!channel> *GPU lost* at 03:12:07')).toBe('&lt;!channel&gt; `*GPU` `lost*` at 03:12:07')
  })
})

describe('Markdown', () => {
  test('white space of any kind before text is left out, and hides no list', () => {
    expect(escapeMarkdown('\u00a0$ ls\n\u3000- x\n    1. y')).toBe('$ ls\n`-` x\n`1`. y')
  })
  test('outside of code there is no character of its markup', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        for (const line of escapeMarkdown(text).split('\n')) {
          const { outside, code } = parts(line)
          expect(outside).not.toMatch(/[*_~[\]<>|\\#]|&#?\w+;|:\/\//)
          expect(outside).not.toMatch(/^(?:\s|[-+=]|\d+[.)])/)
          expect(code.every((one) => one !== '')).toBe(true)
          expect(line).not.toMatch(/@(?:everyone|here|channel|all)|<[!@#]/i)
        }
      }),
      { numRuns: 2_000 },
    )
  })
  test('people read what was written', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(read(escapeMarkdown(text))).toBe(meant(text))
      }),
    )
  })
  test('nothing ends a block but its end', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(markdownBlock(text).slice(4, -4)).not.toMatch(/```|@everyone/)
      }),
    )
  })
})

test('HTML: no tag, no attribute that ends', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(escapeHtml(text)).not.toMatch(/[<>"']|&(?!amp;|lt;|gt;|quot;|#39;)/)
    }),
  )
})

describe('what cannot be seen', () => {
  test('is taken out, once for all', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const cleaned = clean(text)
        expect(cleaned.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
        expect(cleaned.isWellFormed()).toBe(true)
        expect(clean(cleaned)).toBe(cleaned)
      }),
    )
  })
  test('terminal colours go whole, ends of lines are one kind', () => {
    expect(clean('\u001b[31;1mERROR\u001b[0m\r\nnext\u2028last\u202e')).toBe('ERROR\nnext\nlast')
  })
})

test('a cut text is short enough, says that it is cut, and ends no character in two', () => {
  fc.assert(
    fc.property(hostile, fc.integer({ min: 1, max: 40 }), (text, most) => {
      const short = clip(clean(text), most)
      expect(short.length).toBeLessThanOrEqual(most)
      expect(short.isWellFormed()).toBe(true)
      expect(fitted(text, most, escapeSlack).length).toBeLessThanOrEqual(most)
    }),
  )
  expect(clip('123456', 4)).toBe('123…')
})

test('a link ends where it should, and an address of IPv6 stays one', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(linkTarget(`http://host/${text}`)).not.toMatch(/[<>|"'`()\s\\]/)
    }),
  )
  expect(linkTarget('http://[::1]:9839/#/incidents/ab')).toBe('http://[::1]:9839/#/incidents/ab')
})
