// Asks the host's name service (LDAP, SSSD, NIS) for the names of users that /etc/passwd does not have: once for each, one at a time, in the background.
import { parseUsers } from '../../attribution/users.ts'
import type { Ask } from './reported-end.ts'

const MAX_KNOWN = 4_096

/** undefined: not known, or not yet. */
export function createGetent(ask: Ask): (uid: number) => string | undefined {
  const names = new Map<number, string | undefined>()
  let last: Promise<unknown> = Promise.resolve()
  const look = async (uid: number): Promise<void> => {
    const result = await ask('getent', ['passwd', String(uid)])
    if (result.kind === 'ended' && result.exitCode === 0) names.set(uid, parseUsers(result.stdout).get(uid))
  }
  return (uid) => {
    if (!names.has(uid) && names.size < MAX_KNOWN) {
      names.set(uid, undefined)
      last = last.then(() => look(uid))
    }
    return names.get(uid)
  }
}
