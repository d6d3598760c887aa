// The data directory is private: 0700, its files 0600. Also one that an earlier version, an operator or a container engine made wider.
import { closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../text/error.ts'
import { makeDirectory } from '../lib/make-directory.ts'
import type { Log } from '../model/source.ts'

/** A database, what SQLite puts beside it, and what was set aside of it. */
const DATABASE = /^[a-z][a-z-]*\.db(?:-wal|-shm|-journal)?(?:\.broken.*)?$/
/** By one of these a directory that was there before is known to be the agent's. */
const MARKERS = /^(?:history|incidents|outbox|cursors|maintenance|lock)\.db$/
const SIMULATED = 'simulated'
/** Beside the databases. `probe` holds a socket that the jobs of other users connect to: its own rights are sources/allocator/listener.ts's. */
const OTHERS: ReadonlySet<string> = new Set(['lock.pid', 'probe', SIMULATED])
/** Made by the file system where the directory is one of its own. */
const NOBODYS: ReadonlySet<string> = new Set(['lost+found'])

/** Shared by their nature, also while they are empty (Filesystem Hierarchy Standard 3.0). */
const SHARED: ReadonlySet<string> = new Set(
  '/ /bin /boot /dev /etc /home /lib /media /mnt /opt /proc /root /run /sbin /srv /sys /tmp /usr /usr/local /var /var/cache /var/lib /var/local /var/log /var/opt /var/run /var/spool /var/tmp'.split(
    ' ',
  ),
)

const isOurs = (name: string): boolean => DATABASE.test(name) || OTHERS.has(name)
const octal = (mode: number): string => (mode & 0o7777).toString(8).padStart(4, '0')

/** Takes all rights from everybody but the owner. Follows no link, and touches nothing of other users: its directory may be writable for them. */
function makePrivate(path: string, kind: 'file' | 'directory', uid: number): 'tightened' | 'private' | 'not ours' {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | (kind === 'directory' ? constants.O_DIRECTORY : 0)
  const fd = openSync(path, flags)
  try {
    const found = fstatSync(fd)
    // A second name of a file may be another user's.
    if (found.uid !== uid || (kind === 'file' && (!found.isFile() || found.nlink !== 1))) return 'not ours'
    if ((found.mode & 0o077) === 0) return 'private'
    fchmodSync(fd, kind === 'file' ? 0o600 : 0o700)
    return 'tightened'
  } finally {
    closeSync(fd)
  }
}

function tightenFiles(directory: string, names: readonly string[], uid: number, log: Log): void {
  for (const name of names) {
    const path = join(directory, name)
    try {
      if ((DATABASE.test(name) || name === 'lock.pid') && lstatSync(path).isFile()) makePrivate(path, 'file', uid)
      else if (name === SIMULATED && lstatSync(path).isDirectory()) tighten(path, uid, log)
    } catch (error) {
      log.warn(`${path}: cannot be made private: ${messageOf(error)}`)
    }
  }
}

/** Whether the agent may change the directory's own rights; else why not. */
function whyLeftAlone(directory: string, names: readonly string[], uid: number): string | undefined {
  const { uid: owner, mode } = statSync(directory)
  if (owner !== uid) return `it belongs to uid ${owner}, the agent runs as uid ${uid}`
  if ((mode & 0o1000) !== 0 || SHARED.has(directory) || directory === homedir()) return 'it is a shared directory'
  const foreign = names.filter((name) => !isOurs(name) && !NOBODYS.has(name))
  if (foreign.length > 0) return `it holds files that are not the agent's (${foreign.slice(0, 3).join(', ')}${foreign.length > 3 ? ', …' : ''})`
  const own = names.filter(isOurs)
  const isKnown = own.length === 0 || own.some((name) => MARKERS.test(name) || OTHERS.has(name))
  return isKnown ? undefined : "no file in it is known to be the agent's"
}

function tighten(directory: string, uid: number, log: Log): void {
  const names = readdirSync(directory)
  const real = realpathSync(directory)
  const mode = statSync(real).mode & 0o7777
  if ((mode & 0o077) !== 0) {
    const why = whyLeftAlone(real, names, uid)
    if (why !== undefined)
      log.warn(
        `${directory}: other users can look into it (mode ${octal(mode)}); left as it is, since ${why}. Give the agent a directory of its own (data_dir)`,
      )
    else if (makePrivate(real, 'directory', uid) === 'tightened')
      log.info(`${directory}: mode ${octal(mode)} made 0700: only the agent's user may look into it`)
  }
  tightenFiles(directory, names, uid, log)
}

/** Makes the directory where there is none. Never throws: who opens the databases says what a disk refuses. */
export function secureDataDirectory(directory: string, log: Log): void {
  const uid = process.getuid?.()
  try {
    makeDirectory(directory, 0o700)
    if (uid !== undefined) tighten(directory, uid, log)
  } catch (error) {
    log.debug?.(`${directory}: ${messageOf(error)}`)
  }
}
