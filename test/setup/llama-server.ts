// A real llama-server for tests, from Debian sid: its packages unpacked into one folder, in which it runs by chroot, by the folder's own loader or as a
// container's image. Nothing is installed. The folder is made once and kept in /var/cache.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { debianMirror, TEST_CACHE } from './bare-debian.ts'
import { programPath } from './engine-client.ts'
import { writeTinyModel } from './tiny-gguf.ts'

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'
const PACKAGE = 'llama.cpp-tools'
const LIBRARIES = 'usr/lib/x86_64-linux-gnu'
/** Neither texts nor character sets are needed to run. */
const LEFT_OUT = ['usr/share', 'var', `${LIBRARIES}/gconv`]
/** The model's file in the root. Long enough that a request can be seen at work for some seconds. */
export const TINY_MODEL = '/models/tiny.gguf'
export const TINY_CONTEXT = 32_768
const RECIPE = [PACKAGE, ...LEFT_OUT, String(TINY_CONTEXT), 'v1']

function lacking(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'needs linux-x64'
  if (process.getuid?.() !== 0) return 'needs root'
  if (!['apt-get', 'dpkg', 'chroot'].every((name) => programPath(name) !== undefined) || !existsSync(KEYRING)) return 'needs Debian’s apt and keyring'
  return debianMirror() === undefined ? 'needs Debian, with its archive in apt’s sources' : undefined
}

/** With lists, sources and a state of its own: nothing of this machine's apt changes. */
function unpackPackages(into: string): void {
  const apt = mkdtempSync(join(tmpdir(), 'apt-'))
  for (const folder of ['lists/partial', 'archives/partial']) mkdirSync(join(apt, folder), { recursive: true })
  writeFileSync(join(apt, 'status'), '')
  writeFileSync(join(apt, 'sources.list'), `deb [signed-by=${KEYRING}] ${debianMirror()} sid main\n`)
  const settings = {
    'Dir::Etc::sourcelist': join(apt, 'sources.list'),
    'Dir::Etc::sourceparts': '-',
    'Dir::State': apt,
    'Dir::State::status': join(apt, 'status'),
    'Dir::Cache': apt,
    'Dir::Cache::archives': join(apt, 'archives'),
    'Acquire::Languages': 'none',
    'Acquire::http::Timeout': '15',
    'APT::Update::Error-Mode': 'any',
    'APT::Sandbox::User': 'root',
  }
  const options = Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`])
  const run = (...args: readonly string[]): unknown =>
    execFileSync('apt-get', ['-qq', ...options, ...args], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 })
  try {
    run('update')
    run('install', '--download-only', '--no-install-recommends', '--yes', PACKAGE)
    for (const folder of ['lib', 'lib64', 'bin', 'sbin']) {
      mkdirSync(join(into, 'usr', folder), { recursive: true })
      symlinkSync(`usr/${folder}`, join(into, folder))
    }
    for (const file of readdirSync(join(apt, 'archives'))) if (file.endsWith('.deb')) execFileSync('dpkg', ['-x', join(apt, 'archives', file), into])
  } finally {
    rmSync(apt, { recursive: true, force: true })
  }
}

/** A folder that holds a whole file system for it, or why there is none; 20 s and 19 MB where it is not in the cache. */
export function llamaRoot(): { readonly root: string } | { readonly missing: string } {
  const missing = lacking()
  if (missing !== undefined) return { missing }
  const made = join(TEST_CACHE, `llama-server-${createHash('sha256').update(RECIPE.join('\n')).digest('hex').slice(0, 12)}`)
  if (existsSync(made)) return { root: made }
  const part = `${made}.part-${process.pid}`
  try {
    mkdirSync(part, { recursive: true })
    unpackPackages(part)
    for (const folder of LEFT_OUT) rmSync(join(part, folder), { recursive: true, force: true })
    for (const folder of ['models', 'tmp', 'run']) mkdirSync(join(part, folder), { recursive: true })
    writeTinyModel(join(part, TINY_MODEL), TINY_CONTEXT)
    if (!existsSync(join(part, 'usr/bin/llama-server'))) return { missing: `needs ${PACKAGE} with llama-server in it` }
    for (const old of readdirSync(TEST_CACHE))
      if (old.startsWith('llama-server-') && !old.includes('.part-')) rmSync(join(TEST_CACHE, old), { recursive: true })
    renameSync(part, made)
    return { root: made }
  } catch (error) {
    return existsSync(made) ? { root: made } : { missing: `needs Debian sid’s ${PACKAGE}: ${String(error).slice(0, 200)}` }
  } finally {
    rmSync(part, { recursive: true, force: true })
  }
}

/** The same root as an archive for an engine. */
export const imageOf = (root: string): Buffer => execFileSync('tar', ['-C', root, '-c', '.'], { maxBuffer: 256 * 2 ** 20 })

export type RunningLlama = { readonly pid: number; readonly said: () => string; readonly stop: () => Promise<void> }
function watched(child: ChildProcess): RunningLlama {
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-20_000)))
  const ended = once(child, 'exit')
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL')
    await ended
  }
  return { pid: child.pid ?? 0, said: () => said, stop }
}

/** In the root as its file system: paths are the root's. */
export const runInRoot = (root: string, args: readonly string[]): RunningLlama =>
  watched(spawn('chroot', [root, '/usr/bin/llama-server', ...args], { stdio: ['ignore', 'pipe', 'pipe'] }))

/** By the root's loader in this machine's file system, as a bundle of another distribution does: its name is then that of the loader. */
export const runByLoader = (root: string, args: readonly string[]): RunningLlama => {
  const libraries = join(root, LIBRARIES)
  const own = [join(libraries, 'ld-linux-x86-64.so.2'), '--library-path', [libraries, join(libraries, 'llama')].join(':')]
  const env = { ...process.env, GGML_BACKEND_PATH: join(libraries, 'ggml/backends0/libggml-cpu-x64.so') }
  const [program = '', ...before] = own
  return watched(spawn(program, [...before, join(root, 'usr/bin/llama-server'), ...args], { stdio: ['ignore', 'pipe', 'pipe'], env }))
}
