// A Python with PyTorch on this machine: TORCH_PYTHON, else one of those found. Some tests are of real jobs, and are left out without it.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { findPythons } from './pythons.ts'

export type TorchPython = {
  readonly path: string
  /** Folders that it is made of, for a container that has none of its own. */
  readonly folders: readonly string[]
}

/** Looks for the package without loading it, which takes seconds. */
const ASK = [
  'import importlib.util, sys',
  'spec = importlib.util.find_spec("torch")',
  'spec is None and sys.exit(1)',
  'print("\\n".join([sys.prefix, sys.base_prefix, *spec.submodule_search_locations]))',
].join('\n')

export function findTorchPython(): TorchPython | undefined {
  const named = process.env['TORCH_PYTHON']
  for (const path of [...(named === undefined ? [] : [named]), ...findPythons().map((python) => python.path)]) {
    try {
      const folders = execFileSync(path, ['-c', ASK], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
        .split('\n')
        .filter((folder) => folder !== '' && existsSync(folder))
      return { path, folders: [...new Set(folders)] }
    } catch {
      // No such Python, or none with PyTorch.
    }
  }
  return undefined
}
