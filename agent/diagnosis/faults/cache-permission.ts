// The model cache cannot be written: another user's folder, a read-only file system, a home that does not exist.
import type { Facts } from '../../model/facts.ts'
import { joinedFrom } from '../joining.ts'
import { known, whole } from './parts/window.ts'
import { ruleFamily, type Seen } from './parts/rules.ts'

const REMEDIES = [
  { text: 'Point the cache at a folder that this user may write.', command: 'export HF_HOME=/data/hf' },
  { text: 'Or give the folder to the user of the container.', command: 'sudo chown -R 1000:1000 /path/of/the/cache' },
  { text: 'Compose: mount the cache and run as its owner.', command: 'user: "1000:1000"\nvolumes: [./hf:/data/hf]' },
]
/** Folders in which frameworks keep models and compiled kernels. */
const CACHE =
  /\.cache\b|huggingface|hf[-_]cache|\bmodels--|torch[_/.-]?(?:hub|inductor|extensions)|\.triton\b|\.nv\b|\.keras\b|\.ollama\b|modelscope|vllm|HF_HOME|TRANSFORMERS_CACHE|flashinfer|numba_cache/i
const PATH = /(?:['"(`‘]|\bat |\bin |\bmkdir |\bopen |: |^)(\/[^\s'"()`,]{1,300})/
const message = ({ text, at, match }: Seen): string => joinedFrom(text, at, 2).slice(0, 1_200) || match[0]
const facts = (seen: Seen): Facts =>
  known({ path: PATH.exec(seen.match[0])?.[1] ?? PATH.exec(message(seen))?.[1], errno: whole(/\[Errno (13|30)\]/.exec(message(seen))?.[1]) })
const verdict = (seen: Seen): string =>
  `The model cache${facts(seen).path === undefined ? '' : ` ${facts(seen).path ?? ''}`} cannot be written by the user that the program runs as.`
const severity = 'warning'
const title = 'Model cache not writable'

export const cachePermission = ruleFamily({
  id: 'cache-permission',
  kind: 'cache_permission',
  literals: ['ermission denied', 'not writable', 'not a writable', 'trying to write in your cache folder', 'PermissionError at ', 'ead-only file system'],
  facts,
  rules: [
    { pattern: /There was a problem when trying to write in your cache folder(?: \([^)]{1,300}\))?/, severity, title, verdict, remedies: REMEDIES },
    { pattern: /PermissionError at \/\S{1,300} when downloading/, severity, title, verdict, remedies: REMEDIES },
    {
      // as the shell and Go say it, the path first
      pattern: /['"`‘]?\/[^\s'"`’:]{1,300}['"`’]?: (?:[Pp]ermission denied|[Rr]ead-only file system)/,
      severity,
      title,
      verdict,
      remedies: REMEDIES,
      unless: ({ match }) => !CACHE.test(match[0]),
    },
    { pattern: /\b[Cc]ache[ _]?(?:dir|folder|path|location|\/)[^;]{0,160} not (?:a )?writable/, severity, title, verdict, remedies: REMEDIES },
    {
      pattern: /(?:[Pp]ermission denied|Read-only file system)(?:: ['"`]?\/[^\s'"`]{1,300}| \(os error 13\))/,
      severity,
      title,
      verdict,
      remedies: REMEDIES,
      unless: (seen) => !CACHE.test(seen.match[0]) && !(seen.match[0].includes('os error') && /huggingface|hf[-_]hub/i.test(message(seen))),
    },
  ],
})
