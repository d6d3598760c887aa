// The model hub refuses a repository: gated, private, not there, or a token that is missing or not valid.
import { group } from '../situation/versions.ts'
import type { Facts } from '../../model/facts.ts'
import { joinedFrom } from '../joining.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import { around, known, whole } from './parts/window.ts'
import { setVariables } from './remedies/environment.ts'
import type { Piece } from './remedies/plan.ts'

const near = ({ text, at }: Pick<Seen, 'text' | 'at'>): string => `${text[at - 1] ?? ''} ${joinedFrom(text, at, 6)}`
/** What the hub says of a refusal is at the end of the last traceback, below the line of the HTTP status. */
const REASON_WITHIN = 16
const reasonNear = ({ text, at }: Pick<Seen, 'text' | 'at'>): string => around(text, at, 1, REASON_WITHIN)
const REPOSITORY =
  /huggingface\.co\/(?!api\/repos)(?:api\/)?(?:models\/|datasets\/)?([\w.-]{0,95}[\w-](?:\/(?!(?:resolve|raw|blob|tree|revision)\/)[\w.-]{0,95}?[\w-])?)(?:\/|\s|[?#]|\.\s|\.?$)|(?:model|dataset|repo(?:sitory)?) ['"]?([\w.-]{1,96}\/[\w.-]{1,96}?)['"]? is (?:restricted|gated)/i
const HUB = /hugging ?face|hf\.co|gated repo|HfHub/i
const facts = (seen: Seen): Facts => {
  const message = near(seen)
  const match = REPOSITORY.exec(message)
  return known({
    http_status: whole(group(/\b(40[134]) (?:Client Error|Unauthorized|Forbidden)|(?:Error|status)[ :]{1,3}(40[134])\b/.exec(message))),
    // Asked of the token itself, and not of a repository.
    path: match?.[1]?.startsWith('whoami') === true ? undefined : (match?.[1] ?? match?.[2]),
  })
}

/** What the hub says of the request itself, first that applies. */
const STATES = [
  {
    pattern: /Invalid credentials in Authorization header|Invalid user token|\/api\/whoami-v2/,
    because: 'the token that was sent is not valid (expired, revoked or mistyped)',
    text: () =>
      'Give the program a token that is valid (HF_TOKEN, or hf auth login), or none: a public repository needs no token, and a wrong one is refused there too.',
  },
  {
    pattern: /awaiting a review/,
    because: 'the request for access waits for a review by its authors',
    text: (repository: string) => `Wait until the authors of ${repository} grant access, or use another model: the token is not what is wrong.`,
  },
  {
    pattern: /not in the authorized list/,
    because: 'the token is valid, but its account was not granted access',
    text: (repository: string) =>
      `Accept the terms of ${repository} on its page (https://huggingface.co/${repository}), or ask for access there, with the account whose token is used: another token of it does not help.`,
  },
  {
    pattern: /has been rejected/,
    because: 'its authors rejected the request for access',
    text: (repository: string) => `Ask the authors of ${repository}, or use another model: another token of this account does not help.`,
  },
  {
    pattern: /fine-grained token settings/,
    because: 'the token may not read gated repositories',
    text: () => 'Switch on "Read access to contents of all public gated repos you can access" for this token (https://huggingface.co/settings/tokens).',
  },
  {
    pattern: /create (?:a )?(?:commit|repo)|\bwrite (?:token|access|permission)|rights? to (?:create|push|upload|write)/i,
    because: 'the token may not write there',
    text: (repository: string) => `Use a token with the right to write to ${repository}, or push to a repository of your own account.`,
  },
  {
    pattern: /404 Client Error|Client error '404|Repository Not Found/,
    because: 'there is none of that name, or it is private and the token may not see it',
    text: (repository: string) =>
      `Check the name ${repository}: owner, spelling, and whether it is a dataset (repo_type); a private one needs the token of an account that may see it.`,
  },
] as const
/** The hub's words to who sent no token; a wrong one has a sentence of its own. */
const ANONYMOUS = /is (?:restricted|gated)\. You must (?:have access to it and )?be authenticated to access it/
const stateOf = (message: string) => STATES.find(({ pattern }) => pattern.test(message))

/** What `hf auth login` prints. */
const fineGrained = (text: string): boolean => /Token is valid \(permission: fineGrained\)/.test(text)

function remedies({ facts: { path: repository }, text, at, situation }: Matched): readonly Piece[] {
  const state = stateOf(reasonNear({ text, at }))
  const name = repository ?? 'the model'
  return [
    state !== undefined && { text: state.text(name) },
    state === undefined && {
      text: `Accept the terms of ${name} once on its page${repository === undefined ? '' : ` (https://huggingface.co/${repository})`}, with the account whose token is used.`,
    },
    state === undefined &&
      (fineGrained(situation().text)
        ? {
            text: 'The token that was logged in with is fine-grained: switch on "Read access to contents of all public gated repos you can access" for it (https://huggingface.co/settings/tokens).',
          }
        : {
            text: 'Give the program the token of that account; a fine-grained token needs the right to read gated repositories.',
            command: setVariables(situation(), { HF_TOKEN: '<TOKEN>' }),
          }),
    state !== STATES[0] && {
      text: 'See which account the token is of, where the program runs.',
      command: `python -c "from huggingface_hub import whoami; print(whoami()['name'])"`,
    },
  ]
}
const verdict = ({ facts: { path, http_status: status }, text, at }: Matched): string =>
  `Hugging Face refused ${path === undefined && /\/api\/whoami/.test(text[at] ?? '') ? 'the login' : `access to ${path ?? 'a repository'}`}${status === undefined ? '' : ` (HTTP ${status})`}: ${stateOf(reasonNear({ text, at }))?.because ?? (ANONYMOUS.test(reasonNear({ text, at })) ? 'it is gated, and the request came without a valid token' : 'it is gated, private or not there, or the token is missing or not valid')}.`
const rule = { severity: 'warning', title: 'No access to the model', verdict, remedies } as const

export const modelAccess = ruleFamily({
  id: 'model-access',
  kind: 'model_access',
  literals: [
    'GatedRepoError',
    'Cannot access gated repo',
    "Client error '401",
    "Client error '403",
    '401 Client Error',
    '403 Client Error',
    '403 Forbidden: ',
    '403 Forbidden. ',
    'You are trying to access a gated repo',
    'RepositoryNotFoundError',
    'Invalid user token',
  ],
  facts,
  rules: [
    { ...rule, pattern: /GatedRepoError|Cannot access gated repo|You are trying to access a gated repo/ },
    {
      ...rule,
      pattern: /40[13] Client Error|Client error '40[13]|403 Forbidden[:.] |RepositoryNotFoundError|Invalid user token/,
      unless: (seen) => !HUB.test(near(seen)),
    },
  ],
})
