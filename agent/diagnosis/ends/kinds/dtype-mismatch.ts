// Tensors of one operation with different types, or a type for which an operation does not exist.
import type { Facts } from '../../../model/facts.ts'
import type { Piece } from '../../faults/remedies/plan.ts'
import { WEIGHT, anyOf, openFrame, saying, says, type EndKind, type EndContext } from '../end-kind.ts'

const type = (text: string | undefined): string | undefined =>
  text
    ?.replace(/^torch\.(?:cuda\.)?/, '')
    .replace(/Tensor$/, '')
    .replace(/^c10::/, '')
    .replace(/^(?:CUDA|CPU)(\w{2,12})Type$/, '$1')
const both =
  (expected: number, found: number) =>
  (match: RegExpExecArray): Facts => {
    const [want, got] = [type(match[expected]), type(match[found])]
    return { ...(want === undefined ? {} : { expected: want }), ...(got === undefined ? {} : { found: got }) }
  }
const OF_TORCH = { text: 'Cast at the border: `x = x.to(layer.weight.dtype)`, or load model and inputs in one type (`torch_dtype=`).' }
/** Each framework has a call of its own for it. */
const cast = ({ error }: EndContext): Piece =>
  /\bdot_general\b|\blax\./.test(error?.message ?? '')
    ? { text: 'Cast at the border: `x = x.astype(w.dtype)`, or let jnp.dot and jnp.matmul promote the types.' }
    : /\[Op:\w|expected to be an? \w{2,20} tensor but is/.test(error?.message ?? '')
      ? { text: 'Cast at the border: `x = tf.cast(x, w.dtype)`, or make the data of one type when they are loaded.' }
      : OF_TORCH
export const dtypeMismatch: EndKind = {
  kind: 'dtype_mismatch',
  stage: 'cause',
  severity: 'critical',
  claims: anyOf(
    says(
      /[Ee]xpected (?:object of |\w{1,20} )?(?:scalar type|dtype)(?: to be)? ([\w.:]{2,20})(?: or \w{1,20})?,? but (?:found|got)(?: scalar type| dtype)? ([\w.:]{2,20})/,
      WEIGHT.message,
      both(1, 2),
    ),
    says(/[Ff]ound dtype ([\w.:]{2,20}) but expected ([\w.:]{2,20})/, WEIGHT.message, both(2, 1)),
    says(
      /(?:same dtype|same type|uniform dtype|matching dtypes?),? but (?:got|found):? ?(?:struct )?([\w.:]{2,30}) (?:!=|and|vs\.?) (?:struct )?([\w.:]{2,30})/,
      WEIGHT.message,
      both(1, 2),
    ),
    // JAX and TensorFlow
    says(
      /requires (?:arguments to have (?:the same|equal)|equal) (?:dtypes|types),? (?:but )?got:? (\w{3,20})(?:,| and) (\w{3,20})|expected to be an? (\w{2,20}) tensor but is an? (\w{2,20}) tensor/,
      WEIGHT.message + 0.1,
      (match) => both(match[1] === undefined ? 3 : 1, match[1] === undefined ? 4 : 2)(match),
    ),
    says(/[Ii]nput type \(([\w.:]{2,40})\) and (?:weight|bias) type \(([\w.:]{2,40})\) should be the same/, WEIGHT.message, both(2, 1)),
    says(
      /Expected (?:object|tensor) .{0,60}type (torch\.[\w.]{3,30}) but (?:found|got) (?:\w{1,12} ){0,2}type (torch\.[\w.]{3,30})/,
      WEIGHT.message,
      both(1, 2),
    ),
    says(/not implemented for '([A-Z]\w{1,20})'/, WEIGHT.message, (match) => ({ found: match[1] ?? '' })),
    says(
      /\b(?:floating(?:[- ]point)?|complex|integral|integer|index|bool(?:ean)?)(?: or complex)?(?: (?:tensors?|types?|d?types?))?\b.{0,60}?[.,;:] ?(?:[Bb]ut )?[Gg]ot:? ['"]?(?:torch\.)?((?:Long|Int|Short|Byte|Char|Bool|Half|Float|Double|BFloat16|Complex\w{3,12}|u?int\d{1,2}|b?float\d{1,2}))(?:Tensor)?\b/,
      WEIGHT.message,
      (match) => ({ found: type(match[1]) ?? '' }),
    ),
    says(/result type (\w{2,20}) can't be cast to the desired output type (\w{2,20})/, WEIGHT.message, both(2, 1)),
    says(/scalar types?:? ([\w, ]{2,60}?); but got (?:torch\.)?(?:cuda\.)?(\w{2,30})/, WEIGHT.message, both(1, 2)),
    says(
      /tensors used as indices must be|must have the same dtype|to have the same dtype|data types? (?:must|should|do(?:es)? not) match|[Dd]type mismatch|mismatched dtypes|requires arguments to have (?:the same|equal) (?:dtypes|types)|expected to be an? \w{2,20} tensor but is an? \w{2,20} tensor|Only Tensors of floating point .{0,40}can require gradients|with a bool tensor is not supported|only applicable to index tensor|only supports? floating[- ]point (?:and complex )?d?types|Cannot interpret '.{1,60}' as a data type|can't convert np\.ndarray of type|Tensor conversion requested dtype|Index(?:es)? must be (?:Long|int)(?!,)|self and mat2 must have the same dtype|unsupported (?:data ?type|dtype)|FlashAttention only supports? (?:fp16|Ampere)?.{0,20}(?:bf16|fp16)/i,
      WEIGHT.message,
    ),
  ),
  title: ({ facts: { expected, found, frame } }) =>
    `Tensor types do not fit${expected === undefined || found === undefined ? '' : `: expected ${expected}, found ${found}`}${frame === undefined ? '' : ` at ${frame}`}`,
  verdict: (context) =>
    saying(
      context,
      (context.facts.found !== undefined && context.facts.expected === undefined) ||
        /\bonly (?:supports?|applicable)\b|\bis not supported\b/.test(context.error?.message ?? '')
        ? 'gave an operation a tensor of a type that it does not take'
        : 'used tensors of different types in one operation',
    ),
  remedies: (context) => [
    /^(?:Long|Int|Short|Byte|Char|u?int\d{1,2})$/.test(`${context.facts.found}`) &&
    context.facts.expected === undefined &&
    /float/i.test(context.error?.message ?? '')
      ? { text: 'The tensor holds whole numbers: make it one of floating point in that place, x.float().' }
      : undefined,
    openFrame(context),
    cast(context),
    context.situation.training &&
      cast(context) === OF_TORCH && { text: 'In mixed precision run forward and loss under `torch.autocast`, which casts for each operation.' },
  ],
}
