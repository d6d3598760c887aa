// What a collector or launcher that we do not know puts before each line: learnt from the lines themselves, where it hides a traceback or a last word.
import { splitPrefix } from '../../text/line-prefix.ts'
import { literalPattern } from '../../text/pattern.ts'
import type { Unwrap } from './json.ts'

/** What is at the beginning of a line where nothing is before it. */
const BEGINS =
  /^(?:Traceback \(most recent call last\)| {2}File "|Fatal Python error|(?:[\w.]{1,80})?(?:Error|Exception|Interrupt|Exit)(?:: |$)|Segmentation fault|Killed$|Aborted|Bus error|Program (?:received|terminated with) signal |terminate called|thread '|panic: |goroutine \d|slurmstepd: |srun: |NVRM: |\[rank\d{1,6}\]: |\*\*\* |Signal: |Process \S{1,60}:$|(?:\/|bash: |sh: )[^ ]{0,120}: line \d)/
/** What a program says of its end, with nothing before it. */
export const begins = (line: string): boolean => BEGINS.test(line)
const TRACEBACK = 'Traceback (most recent call last)'
/** Lines that are looked at, each up to so many characters. */
const SAMPLE = 400
const HEAD = 200
/** At least so many lines, of which this share has the prefix. */
const LEAST = 2
const SHARE = 0.8

const LEVEL = /^(?:DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL|TRACE|stdout|stderr|out|err)$/i
const TOKEN = /\d+|[A-Za-z]+|[ \t]+|[^\dA-Za-z \t]/g
const CLOSES = /[\s:|\]>)}]$/

type Token = { readonly text: string; readonly shape: string }
const shapeOf = (text: string): string => (/^\d/.test(text) ? '0' : LEVEL.test(text) ? 'L' : /^[ \t]/.test(text) ? ' ' : text)
const tokensOf = (line: string): readonly Token[] => (line.slice(0, HEAD).match(TOKEN) ?? []).map((text) => ({ text, shape: shapeOf(text) }))

/** Blanks within it may differ, as levels are padded; those at its end may not: what follows them is the line's own indentation. */
const patternOf = (tokens: readonly Token[]): string =>
  tokens
    .map(({ text, shape }, at) => {
      if (shape === '0') return String.raw`\d+`
      if (shape === 'L') return '(?:DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL|TRACE|std(?:out|err)|out|err|[a-z]{4,8})'
      if (shape === ' ') return at === tokens.length - 1 ? literalPattern(text) : '[ \\t]+'
      return literalPattern(text)
    })
    .join('')

/** What most lines have in common at their beginning, up to a mark that can close a prefix. */
function shared(all: readonly (readonly Token[])[]): readonly Token[] {
  const tokens: Token[] = []
  let lines = all
  for (let at = 0; at < HEAD; at += 1) {
    const found = lines.map((line) => line[at]).filter((token) => token !== undefined)
    const [most = []] = [...Map.groupBy(found, ({ shape }) => shape).values()].toSorted((a, b) => b.length - a.length)
    const [first] = most
    if (first === undefined || most.length < SHARE * all.length) break
    lines = lines.filter((line) => line[at]?.shape === first.shape)
    // Where blanks differ in number, the longer ones are the line's own.
    tokens.push(first.shape === ' ' ? most.reduce((a, b) => (b.text.length < a.text.length ? b : a)) : first)
  }
  // Of the driver's messages the beginning may be the same in all lines: it belongs to them.
  const message = tokens.findIndex(({ text }) => text === 'NVRM')
  if (message >= 0) tokens.length = message
  while (tokens.length > 0 && !CLOSES.test(tokens.at(-1)?.text ?? '')) tokens.pop()
  return tokens
}

/** The prefix before a traceback, if the next line has the same and a frame behind it; else what most lines begin with. */
function prefixOf(lines: readonly string[]): RegExp | undefined {
  for (const [at, line] of lines.entries()) {
    const column = line.indexOf(TRACEBACK)
    if (column <= 0 || column > HEAD) continue
    const pattern = new RegExp(`^${patternOf(tokensOf(line.slice(0, column)))}`)
    const frames = lines.slice(at + 1, at + 4).some((next) => pattern.test(next) && next.replace(pattern, '').startsWith('  File "'))
    if (frames) return pattern
  }
  if (lines.length < LEAST) return undefined
  const found = shared(lines.map(tokensOf))
  return found.length < 2 ? undefined : new RegExp(`^${patternOf(found)}`)
}

/** Host and process of what Open MPI itself says of a crash: they belong to it. */
const OPEN_MPI = /^\[[\w.-]{1,80}:\d{1,10}\] \*{3} Process received signal \*{3}/

const TIMES = /\b\d+(?:\.\d+)?s\b|\d{4}[-/]\d\d[-/]\d\d|\d\d:\d\d:\d\d(?:[.,]\d+)?|\d+\.\d+s?|\d{9,}|[\w./-]+:\d+/g
/** Who wrote a line, by its prefix: the number in which it differs from others' when times and places in code are left out. A number that hardly comes back counts lines. */
function writers(prefixes: readonly string[]): (prefix: string) => string {
  const numbers = (prefix: string): readonly string[] => prefix.replace(TIMES, ' ').match(/\d+/g) ?? []
  const all = prefixes.map(numbers)
  const differs = (all[0] ?? []).findIndex((value, at) => {
    const found = new Set(all.map((other) => other[at] ?? value))
    return found.size > 1 && 2 * found.size <= all.length
  })
  return (prefix) => {
    const number = differs < 0 ? undefined : numbers(prefix)[differs]
    return number === undefined || number.length > 6 ? '' : `[${number}]: `
  }
}

/** Takes the prefix away; lines of several writers keep their number, as torchrun prints it. Undefined where our own grammar knows the prefix, or none is there. */
export function learnedPrefix(sample: readonly string[]): Unwrap | undefined {
  const lines = sample.filter((line) => line.trim() !== '').slice(-SAMPLE)
  const pattern = lines.some((line) => OPEN_MPI.test(line)) ? undefined : prefixOf(lines)
  if (pattern === undefined) return undefined
  const bare = lines.map((line) => line.replace(pattern, ''))
  // What our own grammar takes away as well need not be learnt.
  const gained = bare.filter((line, at) => begins(line) && !begins(splitPrefix(lines[at] ?? '').text)).length
  if (gained === 0 || gained <= lines.filter(begins).length) return undefined
  const writer = writers(lines.map((line) => pattern.exec(line)?.[0]).filter((prefix) => prefix !== undefined))
  return (line) => {
    const prefix = pattern.exec(line)?.[0]
    return prefix === undefined ? undefined : `${writer(prefix)}${line.slice(prefix.length)}`
  }
}
