// Asks the running agent to change something, or for what it alone knows: silences, acknowledgements, set-healthy.
import { localUrl } from '../config/listen.ts'
import type { Config } from '../config/schema.ts'
import { messageOf } from '../text/error.ts'
import { UsageError, type Io } from './command.ts'

const ANSWER_WITHIN_MS = 5_000

/** Who says it, where no flag does: the user that runs the command. */
export const userOf = ({ env }: Io): string | undefined => env['SUDO_USER'] || env['USER'] || env['LOGNAME'] || undefined

async function problemOf(response: Response): Promise<string> {
  try {
    const body: unknown = await response.json()
    const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
    if (typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string') return `${response.status} ${error.message}`
  } catch {
    // Not JSON: a proxy's page, say.
  }
  return String(response.status)
}

/** The answer of the agent; undefined where it has none to give. Throws a UsageError when it refuses, or does not run. */
export async function callAgent(config: Config, command: string, method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<unknown> {
  const url = `${localUrl(config.http.listen)}${path}`
  let response: Response
  try {
    response = await fetch(url, {
      method,
      headers: {
        ...(config.http.token === '' ? {} : { authorization: `Bearer ${config.http.token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    })
  } catch (error) {
    const { cause } = error instanceof Error ? error : { cause: undefined }
    const refused = cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED'
    const why = refused ? 'no agent runs there; start it, or name another address' : `no agent answered: ${messageOf(cause ?? error)}`
    throw new UsageError(`${command}: ${url}: ${why}`, { cause: error })
  }
  if (!response.ok) {
    const hint = response.status === 401 ? " (http.token, or WARPWATCH_HTTP__TOKEN, must be the agent's)" : ''
    throw new UsageError(`${command}: ${await problemOf(response)}${hint}`)
  }
  return response.status === 204 ? undefined : response.json()
}
