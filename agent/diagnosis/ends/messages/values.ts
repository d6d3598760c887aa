// Values that a line of source does not expect: what is None there, which list is shorter than its index, what has no such key, and what is of another type.
import type { Piece } from '../../faults/remedies/plan.ts'
import { INFERENCE } from '../../situation/programs.ts'
import { frameName } from '../../traceback/user-frame.ts'
import type { EndContext } from '../end-kind.ts'
import { calledFrom, failedCall, failedInLibrary, identifiersIn } from '../failed-call.ts'
import { versions } from './releases.ts'

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
export function none([, attribute]: RegExpExecArray, context: EndContext): readonly Piece[] {
  if (failedInLibrary(context) && INFERENCE.some((one) => context.situation.programs.has(one))) return []
  const { own, deepest, library, call } = failedCall(context)
  const what = nothing(deepest?.code, attribute)
  if (deepest !== undefined && library !== undefined) {
    const near = own !== undefined && (context.error?.frames.length ?? 0) - (context.error?.frames.indexOf(own) ?? 0) <= 4
    const given =
      !near || call === undefined ? undefined : `${call.callee}(…) at ${frameName(own)} gets${call.names.length === 0 ? '' : ` (${call.names.join(', ')})`}`
    return [
      {
        text: `In ${library}, ${deepest.name ?? 'its code'} (${frameName(deepest)}), ${what ?? 'a value'} is None${given === undefined ? '.' : `: see what ${given}; one of these is None, or was never set.`}`,
      },
      !near && versions(context),
    ]
  }
  if (what === undefined) return [{ text: 'Print the value before that line: it is None there, mostly because a function found nothing or has no return.' }]
  return [
    {
      text: `${what} is None there: ${LOOKS.test(`${what}${deepest?.code}`) ? 'what it was looked up by was not found' : 'see where it gets its value, mostly from a function that found nothing or has no return'}.`,
    },
  ]
}
const SUBSCRIPT = /([A-Za-z_][\w.]{0,60}(?:\((?:[^()]|\([^()]{0,80}\)){0,120}\))?)\[([^\][:'"]{1,40})\](\[)?/
/** Which list is shorter than its index. */
export function short(context: EndContext): readonly Piece[] {
  const { own, deepest, library } = failedCall(context)
  const [, list, index = '', nested] = SUBSCRIPT.exec(deepest?.code ?? '') ?? []
  const [, at, dimension, size] =
    /index (-?\d{1,12}) is out of (?:bounds|range)(?: for (?:dimension|axis) (\d{1,2}) with size (\d{1,12}))?/.exec(context.error?.message ?? '') ?? []
  const where = library === undefined || own === undefined ? 'before that line' : `there (${library}), and look at what ${frameName(own)} passes`
  if (size !== undefined)
    return [
      {
        text: `${list ?? 'The tensor or array'} has ${size} ${size === '1' ? 'entry' : 'entries'} in dimension ${dimension}, so that index ${at} does not exist: print ${list === undefined ? 'its shape' : `${list}.shape`} and ${index === '' ? 'the indexes' : index} ${where}.${size === '0' ? ' It is empty.' : ''}`,
      },
      calledFrom(context),
    ]
  if (list === undefined)
    return [{ text: 'Print the length and the index before that line: the list is shorter than the code supposes, or empty.' }, calledFrom(context)]
  if (/\b(?:i?glob|listdir|iterdir|scandir|findall)\(/.test(list))
    return [
      {
        text: `${list} found nothing, so that it has no [${index}]: see that what it looks for exists from the folder that the program runs in, and is spelled so.`,
        command: 'pwd; ls',
      },
    ]
  return [
    {
      text: `${nested === undefined ? list : `${list} or ${list}[${index}]`} has no item [${index}]: it is shorter than the code supposes, or empty. Print len(${list})${/^-?\d/.test(index) ? '' : ` and ${index}`} ${where}.`,
    },
    calledFrom(context),
  ]
}

/** A key that a mapping does not have. */
export function missingKey(key: string, context: EndContext): readonly Piece[] {
  const { own, deepest, library, call } = failedCall(context)
  const plain = key.replaceAll(/['"]/g, '')
  const mapping = new RegExp(`([A-Za-z_][\\w.]{0,60})\\[(?:['"]${plain.replaceAll(/\W/g, '.')}['"]|\\w{1,40})\\]`).exec(deepest?.code ?? '')?.[1]
  if (mapping === 'os.environ')
    return [{ text: `Set the variable ${plain} where the program runs: its environment lacks it.`, command: 'env | sort | cut -d= -f1' }]
  if (library !== undefined)
    return [
      {
        text: `${library} looks for ${key}${mapping === undefined ? '' : ` in ${mapping}`} (${deepest === undefined ? '' : frameName(deepest)}) in what it was given: print the keys of ${call === undefined || call.names.length === 0 ? 'the sample, the configuration or the checkpoint that goes in' : call.names.join(', ')}${own === undefined ? '' : ` at ${frameName(own)}`}.`,
      },
    ]
  return [
    {
      text:
        mapping === undefined
          ? `Print the keys that are there before that line; ${key} is not among them (columns of a data set, names of a checkpoint, a variable of the environment).`
          : `${mapping} has no ${key}. print(list(${mapping})) in that place shows what it has, and the line that fills it what it should have.`,
    },
    calledFrom(context),
  ]
}

export const article = (word: string): string => `${/^[aeiou]/i.test(word) ? 'an' : 'a'} ${word}`.replace(/^an? (?=an? )/, '')
const CONVERT: readonly (readonly [wanted: RegExp, got: RegExp, how: string])[] = [
  [/tensor/i, /image/i, 'transforms.ToTensor() makes one of a picture'],
  [/tensor/i, /list|tuple|array|int|float|number/i, 'torch.as_tensor(x) makes one'],
  [/tensor/i, /dict|Output|Encoding/, 'take the entry that holds the tensor'],
  [/number|int|float|index/i, /list|tuple|array|Tensor/i, 'one value of it (x[0], x.item()), or code that takes all of them'],
  [/str|bytes|path/i, /None/, 'a name that was not set'],
]
/** A value of another type than a function takes. */
export function otherType(wanted: string, got: string, context: EndContext): readonly Piece[] {
  const { own, deepest, library, call } = failedCall(context)
  const how = CONVERT.find(([to, from]) => to.test(wanted) && from.test(got))?.[2]
  const names = deepest === own ? identifiersIn(own?.code) : (call?.names ?? [])
  return [
    {
      text: `Here ${article(got)} was passed where ${article(wanted.split(',')[0] ?? wanted)} is expected${library === undefined ? '' : ` (in ${library}, ${deepest === undefined ? '' : frameName(deepest)})`}: convert it before${own === undefined ? '' : ` ${frameName(own)}`}${how === undefined ? '' : ` (${how})`}.${names.length === 0 ? '' : ` print(${names.map((name) => `type(${name})`).join(', ')}) shows which it is.`}`,
    },
    calledFrom(context),
  ]
}

/** A text or a list that the code takes for a mapping. */
export function indexed(kind: string, context: EndContext): readonly Piece[] {
  const { deepest, library } = failedCall(context)
  if (library !== undefined)
    return [{ text: 'Print what the library is given: it holds a text or a list where the library expects a mapping.' }, versions(context)]
  const value = /([A-Za-z_][\w.]{0,60}(?:\[[^\][]{1,40}\]){0,2}?)\[ ?[rf]?['"]/.exec(deepest?.code ?? '')?.[1]
  const text = kind === 'string' || kind === 'byte'
  return [
    {
      text: `${value ?? 'A value there'} is a ${text ? 'text' : kind}, not a dict${text ? ': a loop over a dict gives its keys, and JSON must be parsed first (json.loads)' : ': take one of its items first, or loop over them'}. Print ${value ?? 'it'} before that line.`,
    },
    calledFrom(context),
  ]
}

/** A call of the user's own that does not fit the function: what it lacks, or has too much of. */
export function ownCall(callee: string, { error }: EndContext): readonly Piece[] {
  const missing = [...(/missing \d{1,3} required [^:]{1,40}: (.{1,200})/.exec(error?.message ?? '')?.[1] ?? '').matchAll(/'(\w{1,60})'/g)].map(
    (match) => match[1] ?? '',
  )
  const owner = callee.split('.').at(-2)
  if (missing.includes('self'))
    return [{ text: `${callee} is called on the class: make an object first${owner === undefined ? '' : `, ${owner}(…)`}, and call it on that.` }]
  if (missing.length > 0)
    return [
      {
        text: `Give ${missing.length < 2 ? missing.join('') : `${missing.slice(0, -1).join(', ')} and ${missing.at(-1)}`} in that call: ${callee} requires ${missing.length < 2 ? 'it' : 'them'}.`,
      },
    ]
  const counts = /takes (?:from \d{1,3} to )?(\d{1,3}) positional arguments? but (\d{1,3})/.exec(error?.message ?? '')
  return [
    {
      text:
        counts === null
          ? 'Compare the call in the line above with the definition of the function: the arguments do not fit.'
          : `The call passes ${Number(counts[2]) - Number(counts[1])} too many: compare it with the definition of ${callee}${owner === undefined ? '' : ' (a method counts self as one)'}.`,
    },
  ]
}
