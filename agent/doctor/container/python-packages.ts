// Which Python packages a container has, without running its Python: where site-packages lie, and what PyTorch was built for.
import { archTexts } from './elf.ts'
import type { HostFiles } from '../parts/host-files.ts'

export type PythonPlace = { readonly folder: string; readonly names: ReadonlySet<string> }
export type Torch = {
  readonly folder: string
  readonly place: PythonPlace
  readonly version: string
  /** As `12.4`; undefined: a build for the CPU, or for AMD. */
  readonly cuda?: string
  readonly hip?: string
}

/** Where images put Python and environments, beside what PATH and the environment name. */
const PREFIXES = [
  '/usr',
  '/usr/local',
  '/opt/conda',
  '/opt/venv',
  '/opt/env',
  '/venv',
  '/.venv',
  '/app/.venv',
  '/app/venv',
  '/workspace/.venv',
  '/workspace/venv',
]
const MAX_PREFIXES = 40

function prefixesOf(env: ReadonlyMap<string, string>): readonly string[] {
  const named = ['VIRTUAL_ENV', 'CONDA_PREFIX', 'PYTHONHOME', 'UV_PROJECT_ENVIRONMENT'].flatMap((name) => env.get(name) ?? [])
  const programs = (env.get('PATH') ?? '').split(':').flatMap((folder) => (/^\/.*\/bin\/?$/.test(folder) ? folder.replace(/\/bin\/?$/, '') : []))
  return [...new Set([...named, ...programs, ...PREFIXES])].filter((prefix) => prefix.startsWith('/')).slice(0, MAX_PREFIXES)
}

export async function findPythonPlaces(files: HostFiles, env: ReadonlyMap<string, string>): Promise<readonly PythonPlace[]> {
  const folders = new Set<string>((env.get('PYTHONPATH') ?? '').split(':').filter((folder) => folder.startsWith('/')))
  await Promise.all(
    prefixesOf(env).map(async (prefix) => {
      const there = (await files.list(prefix).catch(() => undefined)) ?? []
      for (const lib of there.filter((name) => name === 'lib' || name === 'lib64')) {
        for (const name of (await files.list(`${prefix}/${lib}`).catch(() => undefined)) ?? []) {
          if (!/^(python3(\.\d+)?|pypy3\.\d+)$/.test(name)) continue
          folders.add(`${prefix}/${lib}/${name}/site-packages`).add(`${prefix}/${lib}/${name}/dist-packages`)
        }
      }
    }),
  )
  const places = await Promise.all(
    [...folders].map(async (folder) => {
      const [names, real] = [await files.list(folder).catch(() => undefined), await files.realpath(folder).catch(() => undefined)]
      return names === undefined || real === undefined ? [] : [{ folder: real, names: new Set(names) }]
    }),
  )
  const byFolder = new Map(places.flat().map((place) => [place.folder, place] as const))
  return [...byFolder.values()]
}

const quoted = (text: string, name: string): string | undefined =>
  new RegExp(`^${name}\\s*(?::[^=\\n]{1,60})?=\\s*['"]([^'"\\n]{1,60})['"]`, 'm').exec(text)?.[1]

/** torch/version.py: `__version__ = '2.6.0+cu124'`, `cuda: Optional[str] = '12.4'`, `hip = None`. undefined: not what PyTorch writes. */
export function parseTorchVersion(text: string): Pick<Torch, 'version' | 'cuda' | 'hip'> | undefined {
  const version = quoted(text, '__version__')
  if (version === undefined) return undefined
  const [cuda, hip] = [quoted(text, 'cuda'), quoted(text, 'hip')]
  return { version, ...(cuda === undefined ? {} : { cuda }), ...(hip === undefined ? {} : { hip }) }
}

export async function findTorch(files: HostFiles, places: readonly PythonPlace[]): Promise<readonly Torch[]> {
  const found = await Promise.all(
    places.map(async (place) => {
      if (!place.names.has('torch')) return []
      const folder = `${place.folder}/torch`
      const parsed = parseTorchVersion((await files.readText(`${folder}/version.py`, 16_384)) ?? '')
      return parsed === undefined ? [] : [{ folder, place, ...parsed }]
    }),
  )
  return found.flat()
}

/** `2.6.0+cu124` → [2, 6]. */
export function torchRelease({ version }: Torch): readonly [number, number] | undefined {
  const match = /^(\d+)\.(\d+)/.exec(version)
  return match === null ? undefined : [Number(match[1]), Number(match[2])]
}

/** Folders of the nvidia-… wheels beside PyTorch, whose libraries it loads itself where its search path does not name them. */
export async function wheelFolders(files: HostFiles, { folder, names }: PythonPlace): Promise<readonly string[]> {
  if (!names.has('nvidia')) return []
  const kinds = (await files.list(`${folder}/nvidia`)) ?? []
  return kinds.flatMap((kind) => [`${folder}/nvidia/${kind}/lib`, `${folder}/nvidia/${kind}/lib64`])
}

/**
 * What PyTorch's kernels were compiled for, such as `sm_90`, `compute_120`: the text behind torch.cuda.get_arch_list(), which stands among
 * the constants of libtorch_python.so (torch/csrc/cuda/Module.cpp, THCPModule_getArchFlags). undefined: not found there.
 */
export async function torchArchitectures(files: HostFiles, { folder }: Torch): Promise<readonly string[] | undefined> {
  const texts = await archTexts(files, `${folder}/lib/libtorch_python.so`)
  const longest = [...(texts ?? [])].sort((a, b) => b.length - a.length)[0]
  return longest?.split(' ')
}

/** Whether code for `architectures` runs on a GPU of that compute capability (CUDA programming guide: binary and PTX compatibility). */
export function runsOn(architectures: readonly string[], capability: string): 'binary' | 'ptx' | 'no' {
  const [major = 0, minor = 0] = capability.split('.').map(Number)
  let best: 'ptx' | 'no' = 'no'
  for (const architecture of architectures) {
    const match = /^(sm|compute)_(\d{1,2})(\d)([af]?)$/.exec(architecture)
    if (match === null) continue
    const [theirs, small, exact] = [Number(match[2]), Number(match[3]), match[4] === 'a']
    if (exact && (theirs !== major || small !== minor)) continue
    if (match[1] === 'sm' && theirs === major && small <= minor) return 'binary'
    if (match[1] === 'compute' && (theirs < major || (theirs === major && small <= minor)) && match[4] === '') best = 'ptx'
  }
  return best
}
