// A model or checkpoint file that is incomplete or damaged: safetensors, PyTorch's zip files, pickles, GGUF.
import type { Facts } from '../../model/facts.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import { around, known } from './parts/window.ts'
import { notGguf } from './parts/file-magic.ts'
import type { Piece } from './remedies/plan.ts'
import { CUT_CHECKPOINT, MODEL_FILE } from './remedies/shared.ts'

const near = ({ text, at }: Seen): string => around(text, at, 4, 3)
/** `load checkpoint from local path: …` may stand far above. */
const LOADED = new RegExp(`\\b[Ll]oad(?:ing|ed|s)?\\b[^\\n]{0,60}?${MODEL_FILE.source}`)
const fileIn = (seen: Seen): string | undefined =>
  MODEL_FILE.exec(seen.message)?.[1] ?? MODEL_FILE.exec(near(seen))?.[1] ?? LOADED.exec(seen.situation().text)?.[1]
/** The name that a training gives. */
const OWN = /(?:^|[\\/])(?:work_dirs?|runs|outputs?|exp\d{0,3}|logs)[\\/]|(?:epoch|iter|step|checkpoint)[-_]?\d{1,8}/i
const facts = (seen: Seen): Facts => known({ pattern: 'unreadable', path: fileIn(seen) })
const HUB = /huggingface|\bhf\.co|\btransformers\b|\bvllm\b|\bsglang\b|diffusers|\.safetensors|from_pretrained/i
const REPOSITORY = /models--([\w.-]{1,96}?)--([\w.-]{1,96}?)(?:\/|\s|$)/

function remedies({ facts: { path }, situation, message }: Matched): readonly Piece[] {
  const repository = REPOSITORY.exec(`${path ?? ''} ${situation().text}`)
  const name = repository === null ? '<REPOSITORY>' : `${repository[1]}/${repository[2]}`
  const windows = situation().system === 'windows'
  const own = OWN.test(path ?? '')
  const pointer = /invalid load key, 'v'|HeaderTooLarge|invalid magic/.test(message)
  return [
    {
      text: `See whether ${path ?? 'the file'} is complete: compare its size with that on the hub or of the other parts.`,
      ...(windows ? {} : { command: path === undefined ? 'ls -lL <MODEL_FOLDER>' : `ls -lL ${path}` }),
    },
    pointer && {
      text: 'A file of a few hundred bytes that begins with "version https://git-lfs" is only a pointer: fetch the real files.',
      command: 'git lfs pull',
    },
    own && CUT_CHECKPOINT,
    repository !== null || (HUB.test(situation().text) && !own)
      ? { text: 'Download the model again: the incomplete file is replaced.', command: `hf download ${name} --force-download` }
      : { text: `If it was downloaded: delete ${path ?? 'the file'}, then let the program fetch it again; while it is there, it is taken for complete.` },
    // Nobody trains into GGUF.
    path?.endsWith('.gguf') !== true && !situation().programs.has('comfyui') && CUT_CHECKPOINT,
  ]
}
/** Pickle says the first byte of what it could not read. */
function loaded(key = ''): { readonly is: string; readonly remedy: Piece } | undefined {
  if (key === 'v')
    return {
      is: 'most likely a pointer of Git LFS (a few lines of text that begin with "version https://git-lfs")',
      remedy: { text: 'Fetch the real files in the folder that was cloned.', command: 'git lfs install && git lfs pull' },
    }
  if (key === '<')
    return {
      is: 'a page of HTML or XML: a link to a page about the file, or the answer of a server that did not give it',
      remedy: {
        text: 'Delete it and download the file itself (Hugging Face: /resolve/ in the link, not /blob/; Google Drive: with gdown).',
        command: 'head -c 300 <FILE>',
      },
    }
  if (/^[A-Za-z{[#"]$/.test(key))
    return {
      is: 'a text: an answer of a server in place of the file, or another file than was meant',
      remedy: {
        text: 'Read how it begins, and see that the path is that of the checkpoint; then download it again.',
        command: 'head -c 300 <FILE>; ls -lL <FILE>',
      },
    }
  if (key === '\\x1f') return { is: 'compressed by gzip', remedy: { text: 'Unpack it first.', command: 'gunzip <FILE>' } }
  return undefined
}
const verdict = ({ facts: { path }, match }: Matched): string =>
  `${path ?? 'A model file'} cannot be read ("${match[0]
    .replace(/ Traceback\s*$/, '')
    .trim()
    .slice(0, 90)}"): likely an incomplete download or save.`
const rule = { severity: 'critical', title: 'A model file cannot be read', verdict, remedies } as const

export const checkpointMismatch = ruleFamily({
  id: 'checkpoint-mismatch',
  kind: 'checkpoint_mismatch',
  literals: [
    'Error while deserializing header',
    'MetadataIncompleteBuffer',
    'failed finding central directory',
    'failed reading zip archive',
    'invalid load key',
    'invalid magic characters',
    'not within the file bounds',
  ],
  facts,
  rules: [
    {
      ...rule,
      // The first eight bytes are the length of the header: what they give here is no length, or what follows is no JSON.
      pattern: /Error while deserializing header: ?(?:HeaderTooLarge|header too large|InvalidHeader\w{0,20}|invalid (?:UTF-8|JSON) in header)/,
      verdict: ({ facts: { path }, match }) =>
        `${path ?? 'The file that was to be loaded'} does not begin as a safetensors file does ("${match[0]}"): mostly it is another file, such as a pointer of Git LFS, a web page or a checkpoint of another format.${/too ?large/i.test(match[0]) ? ' (Of a whole file: its list of tensors is longer than the 100 MB that safetensors reads.)' : ''}`,
      remedies: (matched) => {
        const path = matched.facts.path
        return [
          {
            text: 'See how it begins, and how large it is: "version https://git-lfs" is a pointer, "<" a web page, "PK" a file of PyTorch.',
            ...(matched.situation().system === 'windows' ? {} : { command: `ls -lL ${path ?? '<FILE>'}; head -c 200 ${path ?? '<FILE>'} | cat -v` }),
          },
          ...remedies(matched)
            .slice(1)
            .filter((one) => one !== CUT_CHECKPOINT),
        ]
      },
    },
    { ...rule, pattern: /Error while deserializing header(?:: ?\w{4,40}(?:,? [a-z]{2,14}\b){0,5})?|MetadataIncompleteBuffer/ },
    { ...rule, pattern: /PytorchStreamReader failed reading zip archive(?:: [\w ]{1,60})?|failed finding central directory/ },
    {
      ...rule,
      pattern: /UnpicklingError: invalid load key, ['"](\\x[0-9a-f]{2}|[^\n]{1,6}?)['"]/,
      verdict: (matched) => {
        const is = loaded(matched.match[1])?.is
        return is === undefined
          ? verdict(matched)
          : `${matched.facts.path ?? 'The file that was to be loaded'} is no checkpoint but ${is} ("${matched.match[0]}").`
      },
      remedies: (matched) => {
        const known = loaded(matched.match[1])?.remedy
        return known === undefined ? remedies(matched) : [known, ...remedies(matched).slice(0, 1)]
      },
    },
    {
      ...rule,
      pattern: /gguf_init_from_\w{4,16}: invalid magic characters/,
      verdict: (matched) => {
        const other = notGguf(matched.message)
        return other === undefined ? verdict(matched) : `${matched.facts.path ?? 'The model file'} is not a GGUF file but ${other.is}.`
      },
      remedies: (matched) => [notGguf(matched.message)?.remedies ?? remedies(matched)],
    },
    { ...rule, pattern: /tensor '[^']{1,80}' data is not within the file bounds/ },
  ],
})
