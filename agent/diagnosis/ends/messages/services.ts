// What services outside refuse: object stores, trackers of runs, model APIs, web servers that ask who is there.
import type { Piece } from '../../faults/remedies/plan.ts'
import type { EndContext } from '../end-kind.ts'
import type { Known } from './message.ts'

const WHO_AWS: Piece = { text: 'See as whom the job speaks to AWS: run it where the job runs.', command: 'aws sts get-caller-identity' }
/** How credentials get into a job. */
const give = ({ situation: { programs } }: EndContext, variables: string, folder: string, role: string): Piece => ({
  text: programs.has('kubernetes')
    ? `Give the pod a service account with ${role}, or ${variables} from a secret.`
    : programs.has('docker') || programs.has('compose')
      ? `A container does not see those of the host: pass ${variables} to it, or mount ${folder} read-only.`
      : `Give the job ${variables} through its environment or a secret, ${folder}, or run it where ${role} is attached.`,
})

/** What a call of S3 needs; https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazons3.html. */
const s3Action = (call: string): string | undefined => {
  const [, verb, bucket] = /^(?:(Head|Get|Put|Delete)Objects?|(ListObjects(?:V2)?|HeadBucket))$/.exec(call) ?? []
  return bucket !== undefined
    ? 's3:ListBucket'
    : verb !== undefined
      ? `s3:${verb.replace('Head', 'Get')}Object`
      : /^(?:CreateMultipartUpload|UploadPart)$/.test(call)
        ? 's3:PutObject'
        : undefined
}
const CLOCK: Piece = { text: 'A signature also fails where the clock of the host is minutes off.', command: 'date -u' }
const OFFLINE: Piece = {
  text: 'Or go on without the network: the run stays in the folder wandb and is uploaded later by wandb sync.',
  command: 'export WANDB_MODE=offline',
}
/** Google's predefined role that holds the permission. */
const googleRole = (permission: string): string => (/\.(?:get|list)$/.test(permission) ? 'roles/storage.objectViewer' : 'roles/storage.objectUser')
const bucketIn = (words: string): string | undefined => /\/b\/([a-z0-9][\w.-]{1,62})(?:\/|\b)|gs:\/\/([a-z0-9][\w.-]{1,62})/.exec(words)?.slice(1).find(Boolean)

const HOST = /^https?:\/\/([\w.-]{3,120})/
const urlIn = (url: string | undefined): string => (url !== undefined && /^https?:\/\/[\w./~%+-]{3,300}$/.test(url) ? url : '<URL>')

export const SERVICES: readonly Known[] = [
  {
    pattern: /Unable to locate credentials|Partial credentials found in/,
    title: 'AWS: there are no credentials here',
    remedies: (_, context) => [
      WHO_AWS,
      give(context, 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY', '~/.aws', 'an IAM role'),
      { text: 'A public bucket needs none: read it unsigned (aws s3 --no-sign-request; s3fs: anon=True).' },
    ],
  },
  {
    pattern:
      /ExpiredToken|security token included in the request is (?:expired|invalid)|InvalidAccessKeyId|SignatureDoesNotMatch|UnrecognizedClientException|Token has expired and refresh failed/,
    title: 'AWS: the credentials are expired or wrong',
    remedies: () => [
      WHO_AWS,
      { text: 'Renew them (aws sso login, or new keys). For long jobs take a role that renews its credentials by itself, not copied temporary keys.' },
      CLOCK,
    ],
  },
  {
    pattern: /An error occurred \((?:403|AccessDenied\w{0,20})\) when calling the (\w{3,40}) operation/,
    title: ([, call]) => `AWS refuses ${call}`,
    says: ([, call]) => (call === 'HeadObject' ? 'S3 also answers so for an object that is not there, where the account may not list the bucket.' : undefined),
    remedies: ([, call = '']) => [
      WHO_AWS,
      {
        text:
          s3Action(call) === undefined
            ? `Allow it ${call}, in a policy of its role or user.`
            : `Allow it ${s3Action(call)} on that bucket: in its own policy and in the bucket's; a KMS key of the bucket needs its own right.`,
      },
    ],
  },
  {
    pattern: /(\S{3,120}@\S{3,120}) does not have (storage\.[\w.]{3,60}) (?:access|permission)/,
    title: ([, who, permission]) => `Google Cloud Storage: ${who} lacks ${permission}`,
    remedies: ([words = '', who = '', permission = ''], context) => [
      {
        text: `Give that account ${permission} on the bucket, by a role that holds it.`,
        command: `gcloud storage buckets add-iam-policy-binding gs://${bucketIn(`${context.error?.message} ${words}`) ?? '<BUCKET>'} --member=${who.endsWith('gserviceaccount.com') ? 'serviceAccount' : 'user'}:${who} --role=${googleRole(permission)}`,
      },
    ],
  },
  {
    pattern: /default credentials were not found|Could not automatically determine credentials/,
    title: 'Google Cloud: there are no credentials here',
    remedies: (_, context) => [
      { text: 'For yourself, on this host: log in for programs.', command: 'gcloud auth application-default login' },
      give(context, 'GOOGLE_APPLICATION_CREDENTIALS with the key file', '~/.config/gcloud', 'a service account'),
    ],
  },
  {
    pattern:
      /AuthorizationPermissionMismatch|AuthorizationFailure|not authorized to perform this operation|Server failed to authenticate the request\.|DefaultAzureCredential failed to retrieve a token/,
    title: 'Azure refuses the request',
    remedies: () => [
      {
        text: 'See who is logged in; a SAS has an end. A job has a managed identity, or AZURE_CLIENT_ID, AZURE_TENANT_ID and AZURE_CLIENT_SECRET.',
        command: 'az account show',
      },
      { text: 'Give that identity a role for the data, not only for the account: Storage Blob Data Reader or Contributor.' },
      CLOCK,
    ],
  },
  {
    // wandb says who is logged in with a hint how to change that, whenever it starts.
    pattern: /(?<!Use `)wandb login --relogin|WANDB_API_KEY|(?:W&B|wandb)[^\n]{0,120}(?:API key|\b401\b)/,
    title: 'Weights & Biases refuses the API key, or has none',
    remedies: () => [
      { text: 'Log in again on that host, or give the job WANDB_API_KEY through its environment or a secret.', command: 'wandb login --relogin' },
      OFFLINE,
    ],
  },
  {
    pattern: /\b403\b[^\n]{0,80}[Pp]ermission denied|[Pp]ermission denied[^\n]{0,80}\b403\b|PERMISSION_ERROR/,
    when: ({ error, situation: { text } }) => /^(?:CommError|AuthenticationError)$/.test(error?.name ?? '') || /wandb|W&B/.test(text),
    title: 'Weights & Biases refuses the upload',
    says: 'The account is known and may not write to that entity or project.',
    remedies: () => [
      {
        text: "See which account is logged in, and whether entity and project of the run are its own or its team's.",
        command: 'wandb login --verify; printenv WANDB_ENTITY WANDB_PROJECT',
      },
      OFFLINE,
    ],
  },
  {
    pattern: /Dataset '([\w.-]{1,96}(?:\/[\w.-]{1,96})?)' (is a gated dataset|doesn't exist) on the Hub/,
    title: ([, name, why]) => (why === 'is a gated dataset' ? `The data set ${name} is gated` : `The hub shows no data set ${name} to this job`),
    says: ([, , why]) => (why === 'is a gated dataset' ? undefined : 'It does not exist under that name, or is private and the job has no token for it.'),
    remedies: ([, name = '', why]) => [
      why === 'is a gated dataset' && {
        text: `Accept its terms on its page with the account whose token the job has: https://huggingface.co/datasets/${name}`,
      },
      {
        text: 'See whose token the job has, and what the hub shows to it.',
        command: `hf auth whoami; python -c "from huggingface_hub import dataset_info; print(dataset_info('${name}'))"`,
      },
    ],
  },
  {
    pattern: /smudge filter lfs failed|git-lfs filter-process' failed/,
    title: 'Git LFS could not fetch a large file',
    remedies: () => [
      {
        text: 'Clone without the large files, then fetch them: that shows the reason (no right, a quota, the network, a full disk), and can be repeated.',
        command: 'GIT_LFS_SKIP_SMUDGE=1 git clone <URL>\ngit lfs pull',
      },
    ],
  },
  {
    pattern: /Incorrect API key provided|[Ii]nvalid (?:x-)?api[- _]?key\b|API key not valid/i,
    title: 'The service refuses the API key',
    remedies: () => [
      {
        text: 'Give the job a valid key through its environment or a secret. A server of your own (base_url) has a key of its own (vLLM: --api-key).',
      },
    ],
  },
  {
    pattern:
      /\b(40[13]) Client Error: (?:Unauthorized|Forbidden)\b[^\n]{0,40} for url: (https?:\/\/(?!(?:[\w.-]+\.)?(?:huggingface\.co|hf\.co|modelscope\.\w+)\b)\S{3,400})/,
    title: ([, status, url]) => `${HOST.exec(url ?? '')?.[1] ?? 'The server'} refuses access (${status})`,
    remedies: ([, status, url]) => [
      {
        text:
          status === '401'
            ? 'The server wants to know who asks: give the job the user and password or the token of that server, through a secret or ~/.netrc.'
            : 'See whether a token is missing or lacks the right to it, whether a signed address has expired, or a proxy on the way refuses it.',
      },
      { text: 'Ask it from where the job runs.', command: `curl -sSI ${urlIn(url)} | head` },
    ],
  },
]
