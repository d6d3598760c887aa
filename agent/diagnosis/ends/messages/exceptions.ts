// What Python's own exceptions mean where no library gave a reason: a name of another version, a value that is None, a file of another format.
import type { Piece } from '../../faults/remedies/plan.ts'
import { checkoutOf, frameName, isUserFrame } from '../../traceback/user-frame.ts'
import { INFERENCE } from '../../situation/programs.ts'
import type { EndTold } from '../end-kind.ts'
import { calledFrom, failedCall, identifiersIn } from '../failed-call.ts'
import { packageOf, packageOfClass } from '../python-packages.ts'
import { only, type Known } from './message.ts'

/** The packages that the error passed through, the deepest first. */
const packagesOf = ({ error }: EndTold): readonly string[] => [...new Set((error?.frames ?? []).toReversed().flatMap(({ file }) => packageOf(file) ?? []))]
const failedInLibrary = ({ error }: EndTold): boolean => {
  const deepest = error?.frames.at(-1)
  return deepest !== undefined && (!isUserFrame(deepest) || checkoutOf(deepest.file) !== undefined)
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
/** What is None in a line of source, by what was done with it. */
function nothing(code: string | undefined, attribute: string | undefined): string | undefined {
  if (code === undefined) return undefined
  const place = String.raw`((?:[A-Za-z_]\w*)(?:\.\w+|\[[^\][]{1,40}\]|\([^()]{0,60}\)){0,4}?)`
  const ways =
    attribute === undefined
      ? [new RegExp(`\\bin ${place}(?=[:\\]) ]|$)`), new RegExp(`${place}\\[`), new RegExp(`= ?${place}$`)]
      : [new RegExp(`${place}\\.${attribute}\\b`)]
  return ways.map((way) => way.exec(code)?.[1]).find((one) => one !== undefined)
}
const LOOKS = /\.(?:get|find|search|match|first|pop)\(|glob\(|getenv/
/** A value that is None, and whence it came. */
function none([, attribute]: RegExpExecArray, told: EndTold): readonly Piece[] {
  if (failedInLibrary(told) && INFERENCE.some((one) => told.situation.programs.has(one))) return []
  const { own, deepest, library, call } = failedCall(told)
  const what = nothing(deepest?.code, attribute)
  if (deepest !== undefined && library !== undefined) {
    const near = own !== undefined && (told.error?.frames.length ?? 0) - (told.error?.frames.indexOf(own) ?? 0) <= 4
    const given = !near || call === undefined ? undefined : `${call.callee}(…) at ${frameName(own)} gets${call.names.length === 0 ? '' : ` (${call.names.join(', ')})`}`
    return [
      {
        text: `In ${library}, ${deepest.name ?? 'its code'} (${frameName(deepest)}), ${what ?? 'a value'} is None${given === undefined ? '.' : `: see what ${given}; one of these is None, or was never set.`}`,
      },
      !near && versions(told),
    ]
  }
  if (what === undefined) return [{ text: 'Print the value before that line: it is None there, mostly because a function found nothing or has no return.' }]
  return [
    {
      text: `${what} is None there: ${LOOKS.test(`${what}${deepest?.code}`) ? 'what it was looked up by was not found' : 'see where it gets its value, mostly from a function that found nothing or has no return'}.`,
    },
  ]
}
const SUBSCRIPT = /([A-Za-z_][\w.]{0,60}(?:\((?:[^()]|\([^()]{0,80}\)){0,120}\))?)\[(-?\w{1,30})\]/
/** Which list is shorter than its index. */
function short(told: EndTold): Piece {
  const { own, deepest, library } = failedCall(told)
  const [, list, index] = SUBSCRIPT.exec(deepest?.code ?? '') ?? []
  if (list === undefined)
    return { text: 'Print the length and the index before that line: the list is shorter than the code supposes, or empty.' }
  if (/\b(?:i?glob|listdir|iterdir|scandir|findall)\(/.test(list))
    return { text: `${list} found nothing, so that it has no [${index}]: see that what it looks for exists from the folder that the program runs in, and is spelled so.`, command: 'pwd; ls' }
  return {
    text: `${list} has no item [${index}]: it is shorter than the code supposes, or empty. Print len(${list})${/^\d|^-/.test(index ?? '') ? '' : ` and ${index}`} ${library === undefined || own === undefined ? 'before that line' : `there (${library}), and look at what ${frameName(own)} passes`}.`,
  }
}
/** `f(**kwargs)`: a wrapper that only passes on what it got. */
const PASSES_ON = /\*\*\w|\(\*\w/

/** Over `Name: message`. The order counts. */
export const EXCEPTIONS: readonly Known[] = [
  {
    pattern: /^(?:AttributeError|TypeError): 'NoneType' object (?:has no attribute '(\w{1,80})'|is not (?:iterable|subscriptable|callable))|^TypeError: argument of type 'NoneType' is not/,
    remedies: none,
  },
  {
    pattern: /^TypeError: (?:cannot unpack non-iterable NoneType|unsupported operand type.{0,80}'NoneType'|expected .{1,80}, not NoneType)/,
    remedies: none,
  },
  {
    pattern: /^TypeError: ([\w.<>]{1,120})\(\) (?:got an unexpected keyword argument|got multiple values for)[^']{0,20}'(\w{1,80})'/,
    remedies: ([, callee = '', argument], told) => {
      const { deepest, library } = failedCall(told)
      const [owner, method] = callee.split('.').slice(-2)
      const gave = library !== undefined && deepest?.code !== undefined && (deepest.code.includes(`${argument}`) || !PASSES_ON.test(deepest.code))
      if (gave && packageOfClass(owner ?? '') === undefined)
        return [
          {
            text: `${library} calls ${callee} with ${argument} (${frameName(deepest)}). Where ${owner} is your own, let ${method ?? owner} take ${argument}, or **kwargs; where it comes from a package, update that one.`,
          },
          versions(told),
        ]
      return failedInLibrary(told)
        ? [versions(told), { text: `Leave ${argument} out, or look up in the release notes where it went.` }]
        : [
            {
              text:
                told.error?.message.includes('multiple values') === true
                  ? `${argument} is given twice to ${callee}: by its name, and by its place in the call. Name all arguments; a method that is called on the class, not on an object, lacks self as well.`
                  : `Correct the call of ${callee}, or give it a parameter ${argument}.`,
            },
          ]
    },
  },
  {
    pattern: /^TypeError: ([\w.<>]{1,120})\(\) (?:missing \d{1,3} required (?:positional|keyword-only) argument|takes .{1,40} positional arguments?)/,
    remedies: ([, callee], told) =>
      failedInLibrary(told)
        ? [
            { text: `${failedCall(told).library ?? 'A library'} calls ${callee} with other arguments than it takes: where it is your own, give it those that the library passes.` },
            versions(told),
          ]
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
    pattern:
      /^TypeError: (?:unsupported operand type\(s\) for (?<sign>\S{1,6}): '(?<a>\w{1,60})' and '(?<b>\w{1,60})'|'\S{1,3}' not supported between instances of '(?<c>\w{1,60})' and '(?<d>\w{1,60})'|can only concatenate (?<e>\w{1,20}) \(not "(?<f>\w{1,60})"\)|can't multiply sequence by non-int of type '(?<g>\w{1,60})')/,
    remedies: ({ groups }, told) => {
      const [first, second] = Object.entries(groups ?? {}).flatMap(([name, value]) => (name === 'sign' || value === undefined ? [] : [value]))
      const { deepest, own } = failedCall(told)
      const names = identifiersIn(deepest?.code).filter(() => deepest === own)
      return [
        {
          text: `${second === undefined ? `A list, tuple or text meets a ${first}` : `A ${first} meets a ${second}`} in that line: ${names.length === 0 ? 'print the types of its values' : `print(${names.map((name) => `type(${name})`).join(', ')})`} before it, and convert the one that should be another (a tuple that a function returns: take its item).`,
        },
        calledFrom(told),
      ]
    },
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
    remedies: (_, told) => [short(told)],
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
