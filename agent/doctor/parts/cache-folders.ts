// Where the programs of a container keep models, compiled kernels and other caches, by their variables and defaults.

export type CacheFolder = {
  /** The variable that names it; `HOME` where it is a default. */
  readonly by: string
  readonly path: string
  /** Models are there: large, and read at each start. */
  readonly models: boolean
  /** Set on purpose, or where PyTorch would put it. */
  readonly set: boolean
}

const MODELS = [
  'HF_HUB_CACHE',
  'HUGGINGFACE_HUB_CACHE',
  'HF_HOME',
  'TRANSFORMERS_CACHE',
  'TORCH_HOME',
  'OLLAMA_MODELS',
  'MODELSCOPE_CACHE',
  'VLLM_CACHE_ROOT',
] as const
const OTHERS = [
  'XDG_CACHE_HOME',
  'TRITON_CACHE_DIR',
  'TORCHINDUCTOR_CACHE_DIR',
  'CUDA_CACHE_PATH',
  'MPLCONFIGDIR',
  'NUMBA_CACHE_DIR',
  'TORCH_EXTENSIONS_DIR',
] as const

/** Absolute ones only: others depend on where a program starts. `~` is the home. */
export function cacheFolders(env: ReadonlyMap<string, string>): readonly CacheFolder[] {
  const home = env.get('HOME')
  const found: CacheFolder[] = []
  for (const [names, models] of [
    [MODELS, true],
    [OTHERS, false],
  ] as const) {
    for (const by of names) {
      const text = env.get(by)
      if (text === undefined || text === '') continue
      const path = text.startsWith('~') && home !== undefined ? home + text.slice(1) : text
      if (path.startsWith('/')) found.push({ by, path, models, set: true })
    }
  }
  const base = env.get('XDG_CACHE_HOME') ?? (home === undefined || !home.startsWith('/') ? undefined : `${home === '/' ? '' : home}/.cache`)
  if (base !== undefined && base !== '' && !found.some(({ models }) => models)) {
    found.push({ by: env.has('XDG_CACHE_HOME') ? 'XDG_CACHE_HOME' : 'HOME', path: `${base}/huggingface`, models: true, set: false })
  }
  return found
}

/** Where huggingface_hub looks for models (its constants.py). */
export function hubFolder(env: ReadonlyMap<string, string>): string | undefined {
  const direct = env.get('HF_HUB_CACHE') ?? env.get('HUGGINGFACE_HUB_CACHE')
  if (direct !== undefined && direct !== '') return direct
  const home = env.get('HF_HOME')
  if (home !== undefined && home !== '') return `${home}/hub`
  const base = env.get('XDG_CACHE_HOME') ?? (env.get('HOME') === undefined ? undefined : `${env.get('HOME')}/.cache`)
  return base === undefined ? undefined : `${base}/huggingface/hub`
}
