// What Python's own exceptions mean where no library gave a reason: a name of another version, a value that is None, a file of another format.
import { frameName } from '../../traceback/user-frame.ts'
import { calledFrom, failedCall, failedInLibrary, identifiersIn } from '../failed-call.ts'
import { packageOfClass } from '../python-packages.ts'
import { only, type Known } from './message.ts'
import { INFERENCE } from '../../situation/programs.ts'
import { packagesOf, versions } from './releases.ts'
import { article, indexed, missingKey, none, otherType, ownCall, short } from './values.ts'

/** `f(**kwargs)`: a wrapper that only passes on what it got. */
const PASSES_ON = /\*\*\w|\(\*\w/

/** Over `Name: message`. The order counts. */
export const EXCEPTIONS: readonly Known[] = [
  {
    pattern: /^FileExistsError: .{0,40}?'([^'\n]{1,400})'/,
    title: ([, path]) => `${path} exists already`,
    says: 'An earlier run or another process made it.',
    remedies: ([, path]) => [
      { text: `Give this run another name or folder, or move ${path} away first.` },
      { text: 'Where several ranks or jobs make the same folder: os.makedirs(path, exist_ok=True).' },
    ],
  },
  {
    pattern:
      /^(?:AttributeError|TypeError): 'NoneType' object (?:has no attribute '(\w{1,80})'|is not (?:iterable|subscriptable|callable))|^TypeError: argument of type 'NoneType' is not/,
    remedies: none,
  },
  {
    pattern: /^TypeError: (?:cannot unpack non-iterable NoneType|unsupported operand type.{0,80}'NoneType'|expected .{1,80}, not NoneType)/,
    remedies: none,
  },
  {
    pattern: /^TypeError: ([\w.<>]{1,120})\(\) (?:got an unexpected keyword argument|got multiple values for)[^']{0,20}'(\w{1,80})'/,
    remedies: ([, callee = '', argument], context) => {
      const { deepest, library } = failedCall(context)
      const [owner, method] = callee.split('.').slice(-2)
      // What a data set or its collator returns goes to the model as it is.
      if (
        /(?:^|\.)(?:forward|call|__call__)$/.test(callee) &&
        context.error?.frames.some(({ code }) => /\(\*\*(?:\w*inputs|batch|data|features|model_kwargs)\)/.test(code ?? '')) === true
      )
        return [
          {
            text: `The batch holds ${argument}, which the model does not take: leave it out of what the data set or the collator returns (with the Trainer remove_unused_columns=True drops such columns of a data set).`,
          },
        ]
      const gave = library !== undefined && deepest?.code !== undefined && (deepest.code.includes(`${argument}`) || !PASSES_ON.test(deepest.code))
      if (gave && packageOfClass(owner ?? '') === undefined)
        return [
          {
            text: `${library} calls ${callee} with ${argument} (${frameName(deepest)}). Where ${owner} is your own, let ${method ?? owner} take ${argument}, or **kwargs; where it comes from a package, update that one.`,
          },
          versions(context),
        ]
      // Where only the message of a server stands, its own code made the call.
      const ofServer = context.error?.frames.length === 0 && INFERENCE.some((program) => context.situation.programs.has(program))
      if (ofServer) return [versions(context)]
      return failedInLibrary(context)
        ? [versions(context), { text: `Leave ${argument} out, or look up in the release notes where it went.` }]
        : [
            {
              text:
                context.error?.message.includes('multiple values') === true
                  ? `${argument} is given twice to ${callee}: by its name, and by its place in the call. Name all arguments; a method that is called on the class, not on an object, lacks self as well.`
                  : `Correct the call of ${callee}, or give it a parameter ${argument}.`,
            },
          ]
    },
  },
  {
    pattern: /^TypeError: ([\w.<>]{1,120})\(\) (?:missing \d{1,3} required (?:positional|keyword-only) argument|takes .{1,40} positional arguments?)/,
    title: ([, callee = ''], context) => {
      const { library } = failedCall(context)
      const owner = packageOfClass(callee.split('.')[0] ?? '')
      return library === undefined || owner === undefined || owner === library
        ? undefined
        : `${owner} has another ${callee.split('.').at(-1)} than ${library} calls`
    },
    remedies: ([, callee = ''], context) => {
      const { library } = failedCall(context)
      const owner = packageOfClass(callee.split('.')[0] ?? '')
      if (library === undefined) return ownCall(callee, context)
      if (owner !== undefined && owner !== library)
        return [
          {
            text: `The releases of ${owner} and ${library} do not belong together: update both.`,
            command: `python -m pip install --upgrade ${owner} ${library}`,
          },
        ]
      return [
        {
          text: `${library} calls ${callee} with other arguments than it takes: where it is your own, give it those that the library passes.`,
        },
        versions(context),
      ]
    },
  },
  {
    pattern: /^AttributeError: '(?!NoneType)(\w{1,80})' object has no attribute '(\w{1,80})'/,
    remedies: ([, type, name], context) =>
      failedInLibrary(context) || packagesOf(context).length > 0
        ? [versions(context), { text: `Search the release notes for ${name}: attributes of ${type} are renamed between versions.` }]
        : [{ text: `See what the object is (print type and dir) before that line: a ${type} has no ${name}.` }],
  },
  {
    pattern: /^NameError: name '(\w{1,80})' is not defined/,
    remedies: ([, name], context) =>
      failedInLibrary(context)
        ? [{ text: `A library expects ${name} from a package that could not be imported; a warning about it is further above.` }, versions(context)]
        : [{ text: `Import or define ${name} before that line, or correct its spelling.` }],
  },
  {
    pattern:
      /^TypeError: (?:unsupported operand type\(s\) for (?<sign>\S{1,6}): '(?<a>\w{1,60})' and '(?<b>\w{1,60})'|'\S{1,3}' not supported between instances of '(?<c>\w{1,60})' and '(?<d>\w{1,60})'|can only concatenate (?<e>\w{1,20}) \(not "(?<f>\w{1,60})"\)|can't multiply sequence by non-int of type '(?<g>\w{1,60})')/,
    remedies: ({ groups }, context) => {
      const [first, second] = Object.entries(groups ?? {}).flatMap(([name, value]) => (name === 'sign' || value === undefined ? [] : [value]))
      const { deepest, own } = failedCall(context)
      const names = identifiersIn(deepest?.code).filter(() => deepest === own)
      return [
        {
          text: `${second === undefined ? `There a list, tuple or text meets ${article(first ?? '')}` : `There ${article(first ?? '')} meets ${article(second)}`}: ${names.length === 0 ? 'print the types of its values' : `print(${names.map((name) => `type(${name})`).join(', ')})`} before it, and convert the one that should be another (a tuple that a function returns: take its item).`,
        },
        calledFrom(context),
      ]
    },
  },
  {
    pattern:
      /^TypeError: (?:[\w.]{1,40}\(\): )?(?:[\w.]{1,40}\(\) argument must be|[\w.()]{0,40} ?expected|must be|only) (?:an? )?([A-Za-z][\w. -]{1,60}?)(?: as element \d{1,4} in argument \d{1,2}|(?:, [\w -]{1,40}){0,2} (?:object|number|instance))?,? (?:but (?:got|found)|not|got) (?:an? )?(?:<class )?'?([\w.]{1,60})'?/,
    remedies: ([, wanted = '', got = ''], context) => otherType(wanted, got, context),
  },
  {
    pattern: /^TypeError: (string|byte|list|tuple) indices must be integers/,
    remedies: ([, kind = ''], context) => indexed(kind, context),
  },
  {
    pattern: /^UnboundLocalError: .{0,60}'(\w{1,80})'/,
    remedies: ([, name]) => [{ text: `Give ${name} a value on each way to that line: a branch or a loop that did not run left it out.` }],
  },
  {
    // Not a sentence.
    pattern: /^KeyError: (['"]?[^'"\n`]{1,80}['"]?)(?=$|\n)/,
    remedies: ([, key = ''], context) => missingKey(key, context),
  },
  {
    pattern: /^IndexError: (?:list|tuple|string|deque|pop|index)\b.{0,30}(?:out of (?:range|bounds)|empty)/,
    remedies: (_, context) => short(context),
  },
  {
    pattern: /^ValueError: (?:too many|not enough) values to unpack/,
    remedies: (_, context) => [
      failedInLibrary(context) && versions(context),
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
    remedies: ([, , byte, position], { situation }) => [
      byte === '0x8b' && position === '1'
        ? { text: 'The file is compressed by gzip: open it with gzip.open.' }
        : {
            text: 'See what the file is. A binary one (weights, pickle, image) was opened as text; a text may be in another encoding: save it as UTF-8, or give it (encoding=).',
            ...(situation.system === 'windows' ? {} : { command: 'file <FILE>' }),
          },
    ],
  },
  {
    pattern: /^ZeroDivisionError/,
    remedies: only(
      'Print what is divided by: mostly the length of an empty data set or loader (fewer samples than one batch with drop_last), or a setting of 0.',
    ),
  },
  { pattern: /^RecursionError/, remedies: only('See which functions repeat in the traceback: one calls itself without an end. A higher limit rarely helps.') },
  {
    pattern: /^EOFError: EOF when reading a line/,
    remedies: only('The program asks for an answer and has no terminal: give it the answer as an argument, or run the container with -it.'),
  },
]
