// What Python's own exceptions mean where no library gave a reason: a name of another version, a value that is None, a file of another format.
import type { Piece } from '../../faults/remedies/plan.ts'
import { isUserFrame } from '../../traceback/user-frame.ts'
import { INFERENCE } from '../../situation/programs.ts'
import type { EndTold } from '../end-kind.ts'
import { packageOf } from '../python-packages.ts'
import { only, type Known } from './message.ts'

/** The packages that the error passed through, the deepest first. */
const packagesOf = ({ error }: EndTold): readonly string[] => [...new Set((error?.frames ?? []).toReversed().flatMap(({ file }) => packageOf(file) ?? []))]
const failedInLibrary = ({ error }: EndTold): boolean => {
  const deepest = error?.frames.at(-1)
  return deepest !== undefined && !isUserFrame(deepest)
}

/** Where a name of a library does not fit: two versions, and how to see them. */
function versions(told: EndTold): Piece {
  const packages = packagesOf(told).slice(0, 4)
  return packages.length === 0
    ? { text: 'Compare the installed versions with those that the code was written for (its README or requirements file).', command: 'python -m pip list' }
    : {
        text: `Compare the installed version${packages.length === 1 ? '' : 's'} of ${packages.join(', ')} with what the code was written for (its README or requirements file).`,
        command: `python -m pip list | grep -iE '${packages.map((name) => name.replaceAll(/[-_]/g, '[-_]')).join('|')}'`,
      }
}
const none =
  (what: string) =>
  (_: RegExpExecArray, told: EndTold): readonly Piece[] => [
    !(failedInLibrary(told) && INFERENCE.some((one) => told.situation.programs.has(one))) && {
      text: `Print the value before that line: it is None ${what}, mostly because a function found nothing or has no return.`,
    },
  ]

/** Over `Name: message`. The order counts. */
export const EXCEPTIONS: readonly Known[] = [
  {
    pattern: /^(?:AttributeError|TypeError): 'NoneType' object (?:has no attribute '(\w{1,80})'|is not (?:iterable|subscriptable|callable))/,
    remedies: none('there'),
  },
  {
    pattern: /^TypeError: (?:cannot unpack non-iterable NoneType|unsupported operand type.{0,80}'NoneType'|expected .{1,80}, not NoneType)/,
    remedies: none('there'),
  },
  {
    pattern: /^TypeError: ([\w.<>]{1,120})\(\) (?:got an unexpected keyword argument|got multiple values for)[^']{0,20}'(\w{1,80})'/,
    remedies: ([, callee, argument], told) =>
      failedInLibrary(told)
        ? [versions(told), { text: `Leave ${argument} out, or look up in the release notes where it went.` }]
        : [
            {
              text:
                told.error?.message.includes('multiple values') === true
                  ? `${argument} is given twice to ${callee}: by its name, and by its place in the call. Name all arguments; a method that is called on the class, not on an object, lacks self as well.`
                  : `Correct the call of ${callee}, or give it a parameter ${argument}.`,
            },
          ],
  },
  {
    pattern: /^TypeError: ([\w.<>]{1,120})\(\) (?:missing \d{1,3} required (?:positional|keyword-only) argument|takes .{1,40} positional arguments?)/,
    remedies: (_, told) =>
      failedInLibrary(told)
        ? [versions(told)]
        : [{ text: 'Compare the call in the line above with the definition of the function: the arguments do not fit.' }],
  },
  {
    pattern: /^AttributeError: '(?!NoneType)(\w{1,80})' object has no attribute '(\w{1,80})'/,
    remedies: ([, type, name], told) =>
      failedInLibrary(told) || packagesOf(told).length > 0
        ? [versions(told), { text: `Search the release notes for ${name}: attributes of ${type} are renamed between versions.` }]
        : [{ text: `See what the object is (print type and dir) before that line: a ${type} has no ${name}.` }],
  },
  {
    pattern: /^NameError: name '(\w{1,80})' is not defined/,
    remedies: ([, name], told) =>
      failedInLibrary(told)
        ? [{ text: `A library expects ${name} from a package that could not be imported; a warning about it stands further above.` }, versions(told)]
        : [{ text: `Import or define ${name} before that line, or correct its spelling.` }],
  },
  {
    pattern: /^UnboundLocalError: .{0,60}'(\w{1,80})'/,
    remedies: ([, name]) => [{ text: `Give ${name} a value on each way to that line: a branch or a loop that did not run left it out.` }],
  },
  {
    // Not a sentence.
    pattern: /^KeyError: (['"]?[^'"\n`]{1,80}['"]?)(?=$|\n)/,
    remedies: ([, key], told) => [
      {
        text: failedInLibrary(told)
          ? `A library looks for ${key} in what it was given: print the keys of the sample, the configuration or the checkpoint that goes in.`
          : `Print the keys that are there before that line; ${key} is not among them (columns of a data set, names of a checkpoint, a variable of the environment).`,
      },
    ],
  },
  {
    pattern: /^IndexError: (?:list|tuple|string|deque|pop)\b.{0,30}(?:out of range|empty)/,
    remedies: only('Print the length and the index before that line: the list is shorter than the code supposes, or empty.'),
  },
  {
    pattern: /^ValueError: (?:too many|not enough) values to unpack/,
    remedies: (_, told) => [
      failedInLibrary(told) && versions(told),
      { text: 'Print the value that is unpacked there: it does not have as many items as there are names on the left.' },
    ],
  },
  {
    pattern: /^JSONDecodeError: (Expecting value: line 1 column 1)?/,
    remedies: ([, start]) => [
      start === undefined
        ? {
            text: 'Check the file at the line and column that the message names: it is no valid JSON there, or was cut while it was written.',
            command: 'python -m json.tool <FILE>',
          }
        : {
            text: 'Look at the first bytes of the file or the answer: it is empty, or a page of HTML, or a pointer of Git LFS (then: git lfs pull).',
            command: 'head -c 300 <FILE>',
          },
    ],
  },
  {
    pattern: /^UnicodeDecodeError: '([\w-]{1,20})' codec can't decode byte (0x[\da-f]{2}) in position (\d{1,12})/,
    remedies: ([, , byte, position]) => [
      byte === '0x8b' && position === '1'
        ? { text: 'The file is compressed by gzip: open it with gzip.open.' }
        : {
            text: 'See what the file is. A binary one (weights, pickle, image) was opened as text; a text may be in another encoding (encoding=).',
            command: 'file <FILE>',
          },
    ],
  },
  {
    pattern: /^ZeroDivisionError/,
    remedies: only(
      'Print what is divided by: mostly the length of an empty data set or loader (fewer samples than one batch with drop_last), or a setting of 0.',
    ),
  },
  { pattern: /^RecursionError/, remedies: only('See which functions repeat in the traceback: one calls itself without an end. A higher limit seldom helps.') },
  {
    pattern: /^EOFError: EOF when reading a line/,
    remedies: only('The program asks for an answer and has no terminal: give it the answer as an argument, or run the container with -it.'),
  },
]
