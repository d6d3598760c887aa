// Whose machine this is: the names that a bundle must not hold.
import { hostname } from 'node:os'
import type { Surroundings } from '../definition.ts'
import type { Known } from './scrub.ts'

/** People's accounts begin here (login.defs); below are the system's. */
const FIRST_USER = 1_000
const NOBODY = 65_534

export async function knownNames({ files, env, config }: Pick<Surroundings, 'files' | 'env' | 'config'>): Promise<Known> {
  const users = new Set<string>()
  for (const name of ['USER', 'LOGNAME', 'SUDO_USER', 'USERNAME']) {
    const value = env[name]
    if (value !== undefined && value !== '') users.add(value)
  }
  for (const line of ((await files.readText('/etc/passwd').catch(() => undefined)) ?? '').split('\n')) {
    const [name, , uid, , comment] = line.split(':')
    if (name === undefined || uid === undefined || Number(uid) < FIRST_USER || Number(uid) >= NOBODY) continue
    users.add(name)
    // The name in full, as it is before the first comma.
    const full = comment?.split(',')[0]?.trim() ?? ''
    if (full !== '') users.add(full)
  }
  // Homes of accounts that a directory service knows.
  for (const name of (await files.list('/home').catch(() => undefined)) ?? []) users.add(name)
  const hosts = new Set<string>()
  for (const name of [hostname(), config.host_name, env['HOSTNAME'] ?? '', ((await files.readText('/etc/hostname').catch(() => undefined)) ?? '').trim()]) {
    if (name === '') continue
    hosts.add(name)
    hosts.add(name.split('.')[0] ?? name)
  }
  return { hosts: [...hosts], users: [...users] }
}
