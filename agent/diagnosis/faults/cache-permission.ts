// The model cache cannot be written: another user's folder, a read-only file system, a home that does not exist.
import type { Facts } from '../../model/facts.ts'
import { joinedFrom } from '../joining.ts'
import { around, known, whole } from './parts/window.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import { setVariables } from './remedies/environment.ts'
import type { Piece } from './remedies/plan.ts'

/** Who keeps what where; the hub's own folder where nothing else is named. */
const VARIABLES: readonly (readonly [RegExp, string])[] = [
  [/\.ollama/, 'OLLAMA_MODELS'],
  [/[./]triton\b(?!-)/, 'TRITON_CACHE_DIR'],
  [/torch_?extensions/, 'TORCH_EXTENSIONS_DIR'],
  [/torch_?inductor/, 'TORCHINDUCTOR_CACHE_DIR'],
  [/flashinfer/, 'FLASHINFER_WORKSPACE_BASE'],
  [/\.cache\/vllm/, 'VLLM_CACHE_ROOT'],
  [/\.cache\/torch\b|torch\/hub/, 'TORCH_HOME'],
  [/\.nv\b/, 'CUDA_CACHE_PATH'],
  [/\.keras/, 'KERAS_HOME'],
  [/modelscope/, 'MODELSCOPE_CACHE'],
  [/numba/, 'NUMBA_CACHE_DIR'],
]
/** Where every user keeps files: what is there is another one's. */
const SHARED = /^\/(?:var\/)?tmp\b/
/** Of another user's home, or of none (HOME is /): owning that folder is no cure. */
const NOT_OURS = /^\/(?:root\/)?\.cache\b|^\/root\b|^\/(?:nonexistent|var\/empty|dev\/null|proc)\b/
const READ_ONLY = /[Rr]ead-only file system|\[Errno 30\]/

function remedies({ facts, situation, message }: Matched): readonly Piece[] {
  const { programs, subject } = situation()
  const path = facts.path
  const root = path?.replace(/(\/\.cache\/huggingface|\/huggingface|\/\.cache\/torch|\/\.triton|\/\.ollama).*$/, '$1')
  const variable = programs.has('ollama') ? 'OLLAMA_MODELS' : (VARIABLES.find(([kept]) => kept.test(path ?? ''))?.[1] ?? 'HF_HOME')
  const inContainer = programs.has('docker') || programs.has('compose') || programs.has('kubernetes') || NOT_OURS.test(path ?? '')
  // Where docker mounts the folder, its owner is the one of the host's folder.
  const [, onHost] = /-v ["']?(\S{1,80}?)["']?(\/[\w./-]{0,80})?:(\/[\w./-]{1,80})/.exec(situation().text) ?? []
  const mounted = onHost !== undefined && programs.has('docker') && !/ (?:-u|--user)[ =]/.test(situation().text)
  return [
    {
      text: `Point the cache at a folder that this user may write${path === undefined ? '' : `, instead of ${path}`}${path?.startsWith('/.cache') === true ? ' (HOME is / here: set HOME too)' : ''}.`,
      command: setVariables(situation(), { [ANY_CACHE.test(path ?? '') && variable === 'HF_HOME' ? 'XDG_CACHE_HOME' : variable]: '<WRITABLE_FOLDER>' }),
    },
    situation().system === 'windows' && {
      text: 'Windows refuses a file too that another program has open: close other programs that use the cache (Python, a virus scanner), then try again. Last, give your user the folder.',
    },
    mounted && {
      text: 'Or start the container as the user that owns the mounted folder on the host: then it may write there.',
      command: `docker run --user "$(id -u):$(id -g)" ${subject.image ?? '<IMAGE>'}`,
    },
    situation().system !== 'windows' &&
      root !== undefined &&
      !mounted &&
      !NOT_OURS.test(root) &&
      !SHARED.test(root) &&
      !READ_ONLY.test(message) && {
        text: `Or give ${root} to the user that the program runs as.`,
        command: `sudo chown -R "$(id -u):$(id -g)" ${root}`,
      },
    READ_ONLY.test(message) && { text: 'The file system is mounted read-only: mount a writable volume for the cache.' },
    inContainer && {
      text: `In a container: mount a volume for the cache and run ${subject.service ?? 'it'} as the user that owns it (user: in compose, runAsUser and fsGroup in Kubernetes).`,
    },
  ]
}
/** Folders in which frameworks keep models and compiled kernels. */
const CACHE =
  /\.cache\b|huggingface|hf[-_]cache|\bmodels--|torch[_/.-]?(?:hub|inductor|extensions)|\.triton\b|\/triton\/|\.nv\b|\.keras\b|\.ollama\b|modelscope|vllm|HF_HOME|TRANSFORMERS_CACHE|flashinfer|numba_cache/i
/** It has made itself another folder. */
const MATPLOTLIB = /Matplotlib created a temporary/
const PATH = /(?:['"(`‘]|\bat |\bin |\bmkdir |\bopen |: |^)(\/[^\s'"()`,]{0,299}[^\s'"()`,:])/
const KERNELS = /\.triton\b|\/triton\/|torch[_/.-]?(?:inductor|extensions)|flashinfer|numba_cache|\.nv\b/i
const message = ({ text, at, match }: Seen): string => joinedFrom(text, at, 2).slice(0, 1_200) || match[0]
const WINDOWS_PATH = /['"]([A-Za-z]:[\\/][^\n'"]{1,299})['"]/
/** The cache folder that was named above, where a folder on the way to it is refused. */
const announced = ({ text, at, match }: Seen): string | undefined => {
  const [refused, folder] = [PATH.exec(match[0])?.[1], /in your cache folder \((\/[^)]{1,300})\)/.exec(around(text, at, 12, 0))?.[1]]
  return refused !== undefined && folder?.startsWith(`${refused}/`) === true ? folder : undefined
}
const facts = (seen: Seen): Facts =>
  known({
    path:
      announced(seen) ??
      // As written: a folder's first letter is no escape.
      (/: '[A-Za-z]:/.test(seen.match[0]) ? WINDOWS_PATH.exec(seen.text[seen.at] ?? '')?.[1]?.replaceAll('\\\\', '\\') : undefined) ??
      folderOf(PATH.exec(seen.match[0])?.[1]) ??
      folderOf(PATH.exec(message(seen))?.[1]),
    errno: whole(/\[Errno (13|30)\]/.exec(message(seen))?.[1]),
  })
/** The hub's folder, of a file in it. */
const folderOf = (path: string | undefined): string | undefined => path?.replace(/(\/hub)\/(?:models|datasets|spaces)--.*$/, '$1')
/** What every program keeps there, not models alone. */
const ANY_CACHE = /\/\.cache\/?$/
const what = (seen: Seen): string => {
  const path = facts(seen).path ?? ''
  return KERNELS.test(path) ? 'cache of compiled kernels' : ANY_CACHE.test(path) ? 'cache folder' : 'model cache'
}
const verdict = (seen: Seen): string =>
  `The ${what(seen)}${facts(seen).path === undefined ? '' : ` ${facts(seen).path ?? ''}`} cannot be written by the user that the program runs as.`
const severity = 'warning'
const title = (seen: Seen): string => `${what(seen).replace(/^./, (first) => first.toUpperCase())} not writable`

export const cachePermission = ruleFamily({
  id: 'cache-permission',
  kind: 'cache_permission',
  literals: [
    'ermission denied',
    'not writable',
    'not a writable',
    'trying to write in your cache folder',
    'PermissionError at ',
    'ead-only file system',
    ': no locator available',
  ],
  facts,
  rules: [
    {
      pattern: /cannot cache function '?[\w.<>]{1,80}'?: no locator available for file '([^']{1,300})'/,
      severity: 'critical',
      title: 'Cache of compiled kernels not writable',
      facts: ({ match }) => known({ path: match[1] }),
      verdict: ({ match }) =>
        `numba found no writable cache folder: the program's user can write neither next to ${match[1] ?? 'the file'} nor to a home folder.`,
      remedies: ({ situation }) => [
        {
          text: 'Set NUMBA_CACHE_DIR to a folder that this user can write, before the program starts.',
          command: setVariables(situation(), { NUMBA_CACHE_DIR: '/tmp/numba_cache' }),
        },
        { text: 'Or give the user an existing home folder (HOME); containers started with --user often have none.' },
      ],
    },
    { pattern: /There was a problem when trying to write in your cache folder(?: \([^)]{1,300}\))?/, severity, title, verdict, remedies },
    { pattern: /PermissionError at \/\S{1,300} when downloading/, severity, title, verdict, remedies },
    {
      // as the shell and Go say it, the path first
      pattern: /['"`‘]?\/[^\s'"`’:]{1,300}['"`’]?: (?:[Pp]ermission denied|[Rr]ead-only file system)/,
      severity,
      title,
      verdict,
      remedies,
      // The loader's own cache is no program's.
      unless: ({ match }) => !CACHE.test(match[0]) || match[0].includes('ld.so.cache'),
    },
    {
      pattern: /\b[Cc]ache[ _]?(?:dir|folder|path|location|\/)[^;]{0,160} not (?:a )?writable/,
      severity,
      title,
      verdict,
      remedies,
      unless: ({ message: said }) => MATPLOTLIB.test(said) || said.includes('ldconfig'),
    },
    {
      pattern: /(?:[Pp]ermission denied|Read-only file system)(?:: ['"`]?\/[^\s'"`]{1,300}|: '[A-Za-z]:[\\/][^\n']{1,300}'| \(os error 13\))/,
      severity,
      title,
      verdict,
      remedies,
      unless: (seen) =>
        // It makes itself another one.
        seen.match[0].includes('/matplotlib') ||
        (!CACHE.test(seen.match[0]) && announced(seen) === undefined && !(seen.match[0].includes('os error') && /huggingface|hf[-_]hub/i.test(message(seen)))),
    },
  ],
})
