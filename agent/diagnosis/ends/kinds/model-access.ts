// The model hub refuses a repository, does not have it, or cannot be reached.
import { WEIGHT, anyOf, raises, saying, says, type EndKind } from '../end-kind.ts'
import type { Piece } from '../../faults/remedies/plan.ts'
import type { Situation } from '../../situation/situation.ts'
import { setVariables } from '../../faults/remedies/environment.ts'

const status = (match: RegExpExecArray): { http_status?: number } => {
  const code = (/\bresponse code: ?([45]\d\d)\b/.exec(match.input) ?? /\b(40[134])\b/.exec(match.input))?.[1]
  return code === undefined ? {} : { http_status: Number(code) }
}
/** A path in place of a repository, absolute or from a folder above or here: it does not exist here. */
const PATH =
  /(?:[Rr]epo id must (?:be in the form|use alphanumeric)[^:\n]{0,200}: |Incorrect path_or_model_id: |^)['"]\[?((?:\.{0,2}|~|[A-Za-z]:)[\\/][\w.\\/@+-]{2,160})\]?['"]|^(\.{0,2}\/[\w./@+-]{2,160}) is not a local folder/
const REPOSITORY = /huggingface\.co\/(?:datasets\/)?([\w.-]{1,96}\/[\w.-]{1,96})\/(?:resolve|raw|blob)\//
/** What it could not fetch: by the address, or as Transformers calls it. */
const wantedIn = (text: string): string | undefined =>
  /it looks like ([\w.-]{1,96}(?:\/[\w.-]{1,96})?) is not the path to a directory/.exec(text)?.[1] ??
  /Max retries exceeded with url: \/([\w.-]{1,96}\/[\w.-]{1,96})\/resolve\//.exec(text)?.[1] ??
  REPOSITORY.exec(text)?.[1]
const pathIn = (message = ''): string | undefined => {
  const match = PATH.exec(message)
  return match?.[1] ?? match?.[2]
}
const absent = (path: string, { programs }: Situation): readonly Piece[] => [
  {
    text: `See whether ${path} exists where the program runs${path.startsWith('.') ? ' (a relative path counts from the folder that it is started in)' : ''}, with config.json in it, and readable for its user.`,
    command: path.includes('\\') ? `dir "${path}"` : path.startsWith('.') ? `pwd; ls -l ${path}` : `ls -l ${path}`,
  },
  programs.has('kubernetes')
    ? { text: 'In a pod: mount the volume with the models, so that this path is in the container.' }
    : path.startsWith('/') && {
        text: `In a container the host's folders are not there unless they are mounted.`,
        command: `docker run -v <FOLDER>:${path} <IMAGE>`,
      },
]

export const modelAccess: EndKind = {
  kind: 'model_access',
  stage: 'cause',
  severity: 'warning',
  claims: anyOf(
    raises(
      /^(?:(?:Gated|Disabled)RepoError|(?:Repository|Revision|Dataset|(?:Remote|Local)?Entry|LocalToken)NotFoundError|OfflineModeIsEnabled|HFValidationError)$/,
      WEIGHT.errno + 0.5,
    ),
    says(
      /(?:gated repo|huggingface\.co|hf\.co|Hugging ?Face).{0,300}\b(40[134])\b|\b(40[134]) Client Error.{0,300}(?:huggingface\.co|hf\.co|modelscope)/is,
      WEIGHT.message,
      status,
    ),
    says(
      /We couldn't connect to 'https:\/\/(?:huggingface|hf)|is not a local folder and is not a\s{1,8}valid(?:$|\s{1,8}model identifier)|You are trying to access a gated repo|Cannot access gated repo|Can't load (?:the )?(?:tokenizer|config\w{0,12}|model|image processor|feature extractor|processor) for|Incorrect path_or_model_id|outgoing traffic has been disabled|Cannot find (?:the requested files|an appropriate cached snapshot)|does not appear to have (?:a file|files) named|[Ii]nvalid (?:user )?token|Cannot (?:send a request|reach) .{0,80}(?:offline|huggingface)/,
      WEIGHT.message,
      status,
    ),
    says(
      /pull model manifest(?![^\n]{0,200}(?:dial tcp|lookup \S{1,80} on|server misbehaving|no such host|i\/o timeout|connection (?:refused|reset)))|repository .{0,80} (?:does not exist|not found) .{0,60}(?:hub|huggingface|modelscope)|model ['"`]?[\w.:/-]{2,80}['"`]? (?:was )?not found, try pulling/i,
      WEIGHT.message,
      status,
    ),
  ),
  title: ({ error }) => (pathIn(error?.message) === undefined ? 'No access to the model' : 'The folder of the model is not there'),
  verdict: (context) =>
    saying(
      context,
      pathIn(context.error?.message) === undefined
        ? 'could not get a model or data set from its hub'
        : 'found no folder of that name where it runs, and took the name for one of the hub',
    ),
  remedies: ({ situation, error }) => {
    const path = pathIn(error?.message)
    if (path !== undefined) return absent(path, situation)
    if (/outgoing traffic has been disabled|offline mode is enabled/.test(error?.message ?? ''))
      return [
        {
          text: 'HF_HUB_OFFLINE is set, and the cache that it looks in does not have the files: fetch them once where the hub can be reached, into that same cache.',
          command: `printenv HF_HUB_OFFLINE TRANSFORMERS_OFFLINE HF_HOME HF_HUB_CACHE\nHF_HUB_OFFLINE=0 hf download ${wantedIn(situation.text) ?? '<REPOSITORY>'}`,
        },
        { text: 'If the host can reach the hub: leave the variable out.', command: 'unset HF_HUB_OFFLINE TRANSFORMERS_OFFLINE' },
        { text: 'If they are there already: name their folder in place of the repository, or the right cache.', command: 'export HF_HOME=<FOLDER>' },
      ]
    if (/offline|connect|resolve|reach/i.test((error?.message ?? '').replaceAll(/https?:\/\/\S+/g, '')))
      return [
        {
          text: 'The host has no way to the hub. Download the model where there is one, and give the job the folder or a filled cache.',
          command: `hf download ${wantedIn(situation.text) ?? '<REPOSITORY>'}\n${setVariables(situation, { HF_HUB_OFFLINE: '1' })}`,
        },
        {
          text: 'If it should have one: see whether the hub answers from where the job runs; behind a proxy it needs HTTPS_PROXY.',
          command: 'curl -sSI https://huggingface.co | head -n 1; printenv HTTPS_PROXY HF_ENDPOINT HF_HUB_OFFLINE',
        },
      ]
    return [
      {
        text: `Accept the terms of ${REPOSITORY.exec(error?.message ?? '')?.[1] ?? 'the model'} on its page with the account whose token is used, and give the job that token.`,
        command: setVariables(situation, { HF_TOKEN: '<TOKEN>' }),
      },
      { text: 'See who is logged in where the program runs, and whether the name of the repository is right.', command: 'hf auth whoami' },
    ]
  },
}
