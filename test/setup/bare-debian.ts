// A bare Debian 12 for tests of the first start: git and npm from Debian, an ordinary user, no GPU. The root file system is made once and kept in /var/cache.
import { execFile, execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { programPath } from './engine-client.ts'
import { poll } from './poll.ts'

const root = join(import.meta.dirname, '../..')
/** What tests make of Debian's packages and keep from run to run. */
export const TEST_CACHE = '/var/cache/warpwatch-test'
const USER = 1000
const SUITE = 'bookworm'
const RECIPE = [
  '--quiet',
  '--variant=minbase',
  '--include=git,npm,ca-certificates',
  ...['man', 'doc', 'locale'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`),
  '--customize-hook=chroot "$1" useradd --uid 1000 user',
]

const printed = (command: string, args: readonly string[]): string => {
  const run = spawnSync(command, args, { encoding: 'utf8', cwd: tmpdir() })
  return run.status === 0 ? run.stdout.trim() : ''
}
/** Debian's mirror as apt of this machine has it. */
export function debianMirror(): string | undefined {
  const release = readFileSync('/etc/os-release', 'utf8')
  const codename = /^ID=debian$/m.test(release) ? /^VERSION_CODENAME=(\w+)$/m.exec(release)?.[1] : undefined
  const lines = printed('apt-get', ['indextargets', '--format', '$(RELEASE) $(COMPONENT) $(REPO_URI)', 'Identifier: Packages']).split('\n')
  return lines.map((line) => line.split(' ')).find(([suite, component]) => suite === codename && component === 'main')?.[2]
}

/** Why it cannot be had here; undefined when it can. */
export const bareDebianMissing: string | undefined =
  process.platform !== 'linux' || process.arch !== 'x64'
    ? 'needs linux-x64'
    : process.getuid?.() !== 0
      ? 'needs root'
      : !['mmdebstrap', 'apt-get', 'git', 'npm'].every((name) => programPath(name) !== undefined)
        ? 'needs mmdebstrap, git and npm (apt-get install mmdebstrap git npm)'
        : debianMirror() === undefined
          ? 'needs Debian, with its archive in apt’s sources'
          : spawnSync('unshare', ['--mount', '--pid', '--fork', '--uts', '--ipc', 'true']).status !== 0
            ? 'needs unshare, and the right to make namespaces'
            : undefined

/** The archive of the root file system; about a minute from Debian's archive where it is not in the cache. */
async function debianArchive(): Promise<string> {
  const name = `${SUITE}-${createHash('sha256').update(RECIPE.join('\n')).digest('hex').slice(0, 12)}`
  const made = join(TEST_CACHE, `${name}.tar`)
  if (existsSync(made)) return made
  mkdirSync(TEST_CACHE, { recursive: true })
  for (const old of readdirSync(TEST_CACHE)) if (old.startsWith(SUITE)) rmSync(join(TEST_CACHE, old), { recursive: true })
  const part = join(TEST_CACHE, `${SUITE}.part-${process.pid}.tar`)
  // A proxy and the like, as this machine's apt has them.
  const options = printed('apt-config', ['dump'])
    .split('\n')
    .filter((line) => /^Acquire::(https?|ForceIPv4|ForceIPv6|Retries|Check-)[\w:.-]* "[^"]/.test(line))
  const aptOptions = options.map((line) => `--aptopt=${line}`)
  // In memory: dpkg waits for the disk after each file. Ahead of the other tests: what waits for it takes long itself, and beside a dozen of them it got so
  // little of two slow cores that it took more than ten minutes.
  const script = 'mount -t tmpfs tmpfs /mnt && export TMPDIR=/mnt && exec nice -n -10 mmdebstrap "$@"'
  const args = [...RECIPE, ...aptOptions, SUITE, part, debianMirror() ?? '']
  await promisify(execFile)('unshare', ['--mount', 'sh', '-c', script, 'sh', ...args], { cwd: '/' })
  renameSync(part, made)
  return made
}

/** This checkout as it is now, what is not committed included, as a repository that can be cloned. */
function putOrigin(folder: string): void {
  const git = (...args: readonly string[]): unknown =>
    execFileSync('git', [`--git-dir=${folder}`, `--work-tree=${root}`, '-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args])
  git('init', '--quiet', '--initial-branch=main')
  git('add', '--all')
  git('commit', '--quiet', '--no-verify', '--message', 'As it is')
  git('config', 'core.bare', 'true')
  execFileSync('chown', ['-R', `${USER}:${USER}`, folder])
}

/** What this machine's npm is set to, as far as another one needs it to reach the registry. */
function networkSettings(): Record<string, string> {
  const proxies = Object.entries(process.env).filter(([name]) => /^(https?|no|all)_proxy$/i.test(name))
  const npm = ['registry', 'proxy', 'https-proxy', 'noproxy', 'cafile'].map((key) => [
    `npm_config_${key.replace('-', '_')}`,
    printed('npm', ['config', 'get', key]),
  ])
  const certificates = '/etc/ssl/certs/ca-certificates.crt'
  const settings = [...proxies, ...npm].filter(([, value]) => value !== undefined && !['', 'null', 'undefined'].includes(value))
  return {
    ...Object.fromEntries(settings),
    ...(existsSync(certificates) ? { NODE_EXTRA_CA_CERTS: certificates } : {}),
  }
}

export type Ran = { readonly status: number | null; readonly stdout: string; readonly stderr: string }
export type BareDebian = {
  /** A command line of the user's shell, in the home folder; `env` comes on top of a login's. */
  readonly run: (line: string, env?: Readonly<Record<string, string>>) => Promise<Ran>
  /** Starts one, which `stop` ends with SIGTERM: a program that is to get it takes the place of the shell with exec. */
  readonly start: (
    line: string,
    env?: Readonly<Record<string, string>>,
  ) => { readonly child: ChildProcess; readonly said: () => string; readonly stop: () => Promise<void> }
  readonly close: () => Promise<void>
}

const childrenOf = (pid: number): readonly number[] => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)

export async function startBareDebian(): Promise<BareDebian> {
  const archive = await debianArchive()
  const npmCache = join(TEST_CACHE, 'npm')
  mkdirSync(npmCache, { recursive: true })
  chownSync(npmCache, USER, USER)
  const work = mkdtempSync(join(tmpdir(), 'warpwatch-bare-debian-'))
  putOrigin(join(work, 'origin.git'))
  const outer = spawn('/bin/sh', [join(import.meta.dirname, 'bare-debian.sh'), archive, work, npmCache], { stdio: ['ignore', 'ignore', 'pipe'] })
  let trouble = ''
  outer.stderr.setEncoding('utf8').on('data', (text: string) => (trouble += text))
  const ended = once(outer, 'exit')
  const close = async (): Promise<void> => {
    outer.kill('SIGKILL')
    await ended
    rmSync(work, { recursive: true, force: true })
  }
  try {
    const pid = await poll(
      () => {
        if (outer.exitCode !== null) throw new Error(`expected the bare Debian to start, it ended with ${outer.exitCode}: ${trouble}`)
        const [first] = outer.pid === undefined ? [] : childrenOf(outer.pid)
        return first !== undefined && readFileSync(`/proc/${first}/comm`, 'utf8') === 'sleep\n' ? first : undefined
      },
      { what: () => `the bare Debian to start; ${trouble}`, deadlineMs: 30_000 },
    )
    const settings = networkSettings()
    const start: BareDebian['start'] = (line, env = {}) => {
      const variables = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/home/user', USER: 'user', ...settings, ...env }
      const enter = [`--target=${pid}`, '--mount', '--pid', '--uts', '--ipc', '--root', '--wd', `--setuid=${USER}`, `--setgid=${USER}`]
      const pairs = Object.entries(variables).map(([name, value]) => `${name}=${value}`)
      const child = spawn('nsenter', [...enter, '/usr/bin/env', '-i', ...pairs, 'sh', '-c', line], { stdio: ['ignore', 'pipe', 'pipe'] })
      let said = ''
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (said += text))
      const ended = once(child, 'close')
      const stop = async (): Promise<void> => {
        // nsenter is only the parent of what it has started.
        for (const own of child.pid === undefined ? [] : childrenOf(child.pid)) process.kill(own, 'SIGTERM')
        await ended
      }
      return { child, said: () => said, stop }
    }
    return {
      start,
      async run(line, env) {
        const { child } = start(line, env)
        let stdout = ''
        let stderr = ''
        child.stdout?.on('data', (text: string) => (stdout += text))
        child.stderr?.on('data', (text: string) => (stderr += text))
        await once(child, 'close')
        return { status: child.exitCode, stdout, stderr }
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
