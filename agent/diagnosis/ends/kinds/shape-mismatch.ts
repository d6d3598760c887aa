// Tensors or arrays whose shapes do not fit together.
import type { Piece } from '../../faults/remedies/plan.ts'
import { WEIGHT, anyOf, openFrame, saying, says, type EndKind, type EndContext } from '../end-kind.ts'
import { packageOf } from '../python-packages.ts'

/** torch.compile names the line; below site-packages it is not the user's. */
function library({ error, situation }: EndContext): Piece {
  const [, file, line] = error?.name === 'TorchRuntimeError' ? (/from user code:\s{1,8}File "([^"\n]{1,300})", line (\d{1,6})/.exec(situation.text) ?? []) : []
  const name = packageOf(file)
  return (
    file !== undefined &&
    name !== undefined && {
      text: `The line is in the code of ${name} (${file.replace(/^.*[\\/]/, '')}:${line}): update it, and see that the inputs keep within what it was made for (the length of a sequence, the split over GPUs).`,
      command: `python -m pip install --upgrade ${name}`,
    }
  )
}

export const shapeMismatch: EndKind = {
  kind: 'shape_mismatch',
  stage: 'cause',
  severity: 'critical',
  claims: anyOf(
    says(/\bshapes? .{1,80} (?:are|is) (?:incompatible|not compatible|mismatched)/i, WEIGHT.message),
    says(
      /shapes? (?:\S{1,40} and \S{1,40} )?(?:cannot be (?:multiplied|broadcast)|not aligned|(?:are|is) incompatible|mismatch|do(?:es)? not match|must (?:be equal|match)|mismatched)|[Ss]hape mismatch|must have the same shape|size mismatch(?!,? for \w[\w.]{2,} ?: ?copying)|[Ii]ncompatible shapes|[Mm]ismatched shapes?/,
      WEIGHT.exception + 0.5,
    ),
    says(
      /different shapes in component \d|Shape inconsistent, Provided|\b(?:shapes?|dim(?:ension)?s?|sizes?|width|height|channels?|rank) of .{1,200}? (?:is|are|should be) (?:expected to be )?equal\b|The (?:expanded )?size of (?:the )?tensor (?:a )?\(|Sizes of tensors must match|stack expects each tensor to be equal size|is invalid for input of size|cannot reshape (?:array|tensor|a tensor)|could not broadcast|must be broadcastable|operands? (?:could not be|do(?:es)? not) broadcast|[Aa]ttempting to broadcast a dimension|must have same reduction dim|core dimension|batch_size \(\d{1,9}\) to match target batch_size|Dimensions must be equal|inconsistent numbers? of samples|Given (?:groups|normalized_shape|input size)\S{0,20}|[Ee]xpected (?:\d{1,2}D|\d{1,2}-?[dD]im\w{0,8}|more than 1 value|hidden\[?\d?\]? size|input\[\d{1,8}|weight to be|target size|\S{1,30} to have (?:size|shape|\d{1,2} (?:channels|dim)))|all (?:the )?input array(?:s'? ?| )dimensions|arrays must have (?:the )?same number of dimensions|[Tt]arget size \(|[Ii]nput (?:tensor )?(?:\d{1,2} )?.{0,40}(?:is )?incompatible with the layer|contracting dimensions|number of (?:dimensions|columns|channels|features).{0,40}(?:must|should|does not|doesn't|do not) match|[Dd]imension (?:mismatch|out of range|\d{1,3} (?:in both shapes|must))|mat1 dim \d must match|must match the (?:size|existing size|shape|number)|shape '\[[^\]\n]{1,80}\]' is invalid|has a mismatch in|Check failed: \w{1,20}\.(?:size|shape|dim)|Shape\w{0,8}Error|broadcast(?:ed)? (?:together|to)|inhomogeneous shape|split_with_sizes|expects? (?:a )?(?:\d{1,2} ?D|\d{1,3}[- ]dim)/,
      WEIGHT.message,
    ),
    ({ name }) =>
      name !== undefined && /^(?:ShapeError|DimensionMismatch|IncompatibleShapesError|ScopeParamShapeError|TypeCheckError|EinopsError)$/.test(name)
        ? { weight: WEIGHT.errno }
        : undefined,
  ),
  title: (context) => `Tensor shapes do not fit${context.facts.frame === undefined ? '' : ` at ${context.facts.frame}`}`,
  verdict: (context) => saying(context, 'used tensors whose shapes do not fit'),
  remedies: (context) => [
    library(context),
    openFrame(context),
    {
      text: 'Print the shapes just before that line, for the first batch and for the last one: a last batch that is smaller is a common reason (`drop_last=True`).',
    },
    /batch_size|label|class|target/i.test(context.error?.message ?? '') && {
      text: 'Compare the number of labels of the data with the size of the output layer.',
    },
    { text: 'Run one batch on the CPU before the job takes GPUs: the same line fails in seconds.' },
  ],
}
