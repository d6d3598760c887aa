// What a message itself asks for: "Please make sure to …", "You need to have … installed". It is quoted as advice, since nobody knows it better.
import type { Piece } from '../../faults/remedies/plan.ts'
import type { EndTold } from '../end-kind.ts'

const ASKS =
  /^(?:please |try |consider |make sure|ensure |be sure|use |set |pass |specify |provide |choose |select |install |upgrade |update |downgrade |increase |reduce |decrease |lower |enable |disable |add |remove |rename |you (?:can |may |must |should |need |might |have to |will need)|did you (?:mean|forget)|perhaps you|maybe you|if you )|\b(?:should be|must be) (?:set|one of|a multiple)|\bhint:/i
/** To report it, to read further, to search: true for any error. */
const EMPTY =
  /\breport|\bissue|\bbug\b|stack ?trace|traceback|\blogs?\b|refer to|documentation|\bdocs\b|https?:|see (?:above|below)|root cause|contact|support team|try again|feel free|CUDA_LAUNCH_BLOCKING|TORCH_USE_CUDA_DSA|HYDRA_FULL_ERROR/i
const LONGEST = 220

/** Sentences end with a point and a blank, or with the line; not inside of `pip install a.b`. */
const sentences = (text: string): readonly string[] => text.split(/\n+|(?<=[\w)`'"\]][.!?]) +(?=[A-Z`])/)

/** The first such sentence; undefined where there is none. */
export function askedBy({ error }: Pick<EndTold, 'error'>): Piece {
  if (error === undefined) return undefined
  const found = sentences(error.message.slice(0, 2_000)).find((one) => {
    const said = one.trim()
    return said.length >= 15 && said.length <= LONGEST && ASKS.test(said) && !EMPTY.test(said)
  })
  return found === undefined ? undefined : { text: `The message says what to do: "${found.trim().replace(/\s+/g, ' ')}"` }
}
