// What the C library, the shell and Windows say in the language of their user, in English, as the readers of faults and ends know it.
import { literalPattern } from '../../text/pattern.ts'
import { DUMPED, ERRORS, SIGNALS, WINDOWS } from './phrases.ts'

const englishOf = (table: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(table).flatMap(([english, others]) => others.map((other) => [other, english] as const)))
const anyOf = (phrases: Iterable<string>): string =>
  [...phrases]
    .toSorted((a, b) => b.length - a.length)
    .map(literalPattern)
    .join('|')

const signals = englishOf(SIGNALS)
const errors = englishOf(ERRORS)
/** A word for a signal counts alone in its line, before the word for a core dump, or behind the shell's line and pid. */
const SIGNAL = new RegExp(
  `^(.{0,200}?: +(?:\\d{1,10} )?|\\s*)(${anyOf(signals.keys())}|Segmentation fault|Aborted)(?:\\s?[(（](${anyOf(DUMPED)})[)）])?(?=\\s*$|\\s{2,})`,
)
const ERROR = new RegExp(anyOf(errors.keys()), 'g')
/** The shell's "line 3:", and its colon of full width. */
const SHELL_LINE =
  /(^|[:：] ?)(?:第 ?(\d{1,6}) ?[行列]|行 ?(\d{1,6})|Zeile (\d{1,6})|ligne (\d{1,6})|línea (\d{1,6})|linha (\d{1,6})|riga (\d{1,6})|строка (\d{1,6})|linia (\d{1,6})|(\d{1,6}) 行)[\s\u00A0]?[:：][\s\u00A0]?/
const COLON =
  /(?:[\s\u00A0]?：|[\s\u00A0]:)[\s\u00A0]?(?=(?:No such|Permission|No space|Cannot|Disk|Read-only|Too many|Input|Address|Connection|command not found))/g

const WINDOWS_ERROR = /\[WinError (\d{1,5})\] ((?:(?! Error loading |: ['"]).){0,300}?[^\u0000-\u007F](?:(?! Error loading |: ['"]).){0,300})/
/** PyCharm's last line, and that of a launcher of ComfyUI. */
const ENDED = /(?:进程已结束|程序崩溃)[，,] ?退出代码(?:为)? ?(-?\d{1,12})/

/** The line in English, where it holds one of these; else as it is. */
export function inEnglish(line: string): string {
  let text = line.replace(ERROR, (phrase) => errors.get(phrase) ?? phrase)
  text = text.replace(SIGNAL, (whole, before: string, phrase: string, dumped?: string) => {
    const english = signals.get(phrase) ?? phrase
    return dumped === undefined ? (signals.has(phrase) ? `${before}${english}` : whole) : `${before}${english} (core dumped)`
  })
  if (text === line && /^[\u0000-\u007F]*$/.test(line)) return line
  text = text.replace(
    SHELL_LINE,
    (_, before: string, ...found: readonly unknown[]) =>
      `${before}line ${found.find((one): one is string => typeof one === 'string' && /^\d+$/.test(one)) ?? ''}: `,
  )
  text = text.replace(COLON, ': ').replace(ENDED, 'Process finished with exit code $1')
  return text.replace(WINDOWS_ERROR, (whole, code: string) => (WINDOWS[code] === undefined ? whole : `[WinError ${code}] ${WINDOWS[code]}`))
}
