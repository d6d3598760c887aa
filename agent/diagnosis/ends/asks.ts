// What an error's own message tells its reader to do: the sentence, and the pip command in it.
import type { Remedy } from '../../model/fault.ts'
import type { EndContext } from './end-kind.ts'

const ASKS =
  /^(?:[Pp]lease |[Ee]ither )?(?:[Tt]ry|[Uu]se|[Ss]et|[Ii]nstall|[Rr]einstall|[Uu]pgrade|[Uu]pdate|[Pp]ass|[Aa]dd|[Rr]emove|[Ss]pecify|[Pp]rovide|[Cc]hoose|[Ss]elect|[Ee]nable|[Dd]isable|[Rr]estart|[Rr]un|[Cc]heck|[Mm]ake sure|[Ee]nsure|[Cc]onsider|[Rr]educe|[Ii]ncrease|[Ss]witch|[Cc]hange|[Aa]ttach|[Cc]onvert|[Cc]all|[Dd]ecrease|[Ll]ower|[Ll]oad|[Dd]o not|[Aa]void|[Dd]efine)\b|\b(?:you (?:need to|should|must|have to|can|could|(?:may|might) (?:want|need) to)|did you (?:mean|forget|call)|please \w{3,})\b|\bif you (?:want|are|wish|need|did)\b.{1,80}, \w/i
const TO = /^To \w{3,20} .{3,80}, \w/
/** In brackets behind what went wrong: `(raise max_length, or free memory)`. */
const BRACKETS =
  /\(((?:please |try |either )?(?:raise|increase|lower|decrease|reduce|free|set|use|pass|add|remove|enable|disable|check|install|update|upgrade|switch|choose) (?!by\b|in\b|to\b)[^()]{8,200})\)/i
/** Names what to write. */
const EXACT = /`|--\w|\w=\w|pip install|\w\.\w+\(/
/** Said by every error of a kind, or asked of nobody who runs a job. */
const EMPTY =
  /CUDA_LAUNCH_BLOCKING|AMD_SERIALIZE|TORCH_USE_CUDA_DSA|TORCHDYNAMO_VERBOSE|TORCH_LOGS|HYDRA_FULL_ERROR|JAX_TRACEBACK_FILTERING|(?:file|open|report|submit|create) (?:an? |this |the )?(?:\w{1,10} ){0,2}(?:issue|bug|ticket)|please report|[Ss]ee (?:the )?(?:stack trace|root cause|above|logs?\b)|error.?number|[Rr]efer to|Press |[Ff]or (?:more )?(?:details|information)|visit https|[Ss]ee (?:the )?documentation|report this|(?:please )?(?:request|raise) (?:the support|an? (?:issue|feature))|at your own risk/

const SHORTEST = 14
const LONGEST = 260
export function asks({ error }: Pick<EndContext, 'error'>): Remedy | undefined {
  if (error === undefined) return undefined
  const lines = (error.message.startsWith('Exception encountered when calling') ? error.tail.trimStart() : error.tail).split('\n')
  const end = lines.findIndex((line) => /^\s*$|^\[|^\d|Traceback|^[A-Z]+:|^\w+\.\w+/.test(line))
  const said = [error.message, ...lines.slice(0, end < 0 ? 4 : Math.min(end, 4))]
    .join(' ')
    .replace(/\s+/g, ' ')
    .replace(/ \[type=\w[^]*$/, '')
  const asking = said
    .split(/(?<=[.!?;])\s+/)
    .slice(0, 12)
    .filter(
      (one, index) =>
        one.length >= SHORTEST &&
        one.length <= LONGEST &&
        (ASKS.test(one) || TO.test(one)) &&
        !EMPTY.test(one) &&
        // Python's guess at a name of a library.
        !(one.startsWith('Did you mean') && /^(?:Name|Attribute|Import)Error$/.test(error.name ?? '')) &&
        (index > 0 || /\b(?:please|you (?:should|need to|must|have to))\b/i.test(one)),
    )
  const sentence = asking.find((one) => EXACT.test(one)) ?? asking[0] ?? BRACKETS.exec(said)?.[1]
  return sentence === undefined ? undefined : { text: `The message itself says what to do: "${sentence.replace(/[;,:]$/, '').trim()}"` }
}
