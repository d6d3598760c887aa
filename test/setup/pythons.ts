// The Pythons of this machine, one for each minor release that the probe supports: on the PATH, and those of pyenv.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'

export type Python = { readonly version: string; readonly path: string }

/** The oldest and the newest minor release of Python 3 that the probe is made for. */
const [OLDEST, NEWEST] = [8, 14]

/** A shim of pyenv is a shell script that looks for the Python and runs it, at ten times the CPU time of the Python's own start. */
const isScript = (path: string): boolean => readFileSync(path).subarray(0, 2).toString() === '#!'
const foldersOnPath = (): readonly string[] => (process.env['PATH'] ?? '').split(delimiter).filter(existsSync)

function candidates(): readonly string[] {
  const onPath = foldersOnPath()
  const named = onPath.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => /^python3(\.\d+)?$/.test(name))
      .map((name) => join(folder, name)),
  )
  const pyenv = join(homedir(), '.pyenv/versions')
  const versions = existsSync(pyenv) ? readdirSync(pyenv).map((name) => join(pyenv, name, 'bin/python3')) : []
  return [...versions, ...named].filter((path) => existsSync(path) && !isScript(path))
}

/** Real interpreters by what they say of themselves. */
export function findPythons(): readonly Python[] {
  const found = new Map<number, Python>()
  for (const path of candidates()) {
    try {
      const said = execFileSync(path, ['-I', '-S', '-c', 'import sys; print(*sys.version_info[:3], sys.executable)'], { encoding: 'utf8', stdio: 'pipe' })
      const [major = '', minor = '', patch = '', ...executable] = said.trim().split(' ')
      const release = Number(minor)
      if (major !== '3' || release < OLDEST || release > NEWEST || found.has(release)) continue
      found.set(release, { version: `${major}.${minor}.${patch}`, path: executable.join(' ') })
    } catch {
      // It does not start: no Python.
    }
  }
  return [...found.entries()].sort(([left], [right]) => left - right).map(([, python]) => python)
}

/** So many of them, the oldest and the newest among them, the others evenly between: where a change breaks one release, its neighbours mostly break too. */
export const spreadPythons = (all: readonly Python[], count: number): readonly Python[] =>
  count >= all.length ? all : Array.from({ length: count }, (_, at) => all[Math.round((at * (all.length - 1)) / (count - 1))] ?? []).flat()

/** The folder of the Python that `python3` starts, where that is a shim: at the head of the PATH it spares the run hundreds of shims. */
export function folderBehindShim(): string | undefined {
  const shim = foldersOnPath()
    .map((folder) => join(folder, 'python3'))
    .find(existsSync)
  if (shim === undefined || !isScript(shim)) return undefined
  try {
    return dirname(execFileSync(shim, ['-I', '-S', '-c', 'import sys; print(sys.executable)'], { encoding: 'utf8', stdio: 'pipe' }).trim())
  } catch {
    return undefined // a shim of a version that is not installed
  }
}
