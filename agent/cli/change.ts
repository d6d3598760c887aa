// Asks the running agent to change something, or for what it alone knows: silences, acknowledgements, set-healthy.
import { localUrl } from '../config/listen.ts'
import type { Config } from '../config/schema.ts'
import { codeOf, messageOf } from '../text/error.ts'
import { askAgent, type AgentAnswer } from './ask-agent.ts'
import { UsageError, type Io } from './command.ts'

const ANSWER_WITHIN_MS = 5_000

/** Who says it, where no flag does: the user that runs the command. */
export const userOf = ({ env }: Io): string | undefined => env['SUDO_USER'] || env['USER'] || env['LOGNAME'] || undefined

function problemOf({ status, text }: AgentAnswer): string {
  try {
    const body: unknown = JSON.parse(text)
    const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined
    if (typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string') return `${status} ${error.message}`
  } catch {
    // Not JSON: a proxy's page, say.
  }
  return String(status)
}

/** The answer of the agent; undefined where it has none to give. Throws a UsageError when it refuses, or does not run. */
export async function callAgent(config: Config, command: string, method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown): Promise<unknown> {
  const url = `${localUrl(config.http.listen)}${path}`
  let answer: AgentAnswer
  try {
    answer = await askAgent(url, {
      method,
      headers: {
        ...(config.http.token === '' ? {} : { authorization: `Bearer ${config.http.token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      withinMs: ANSWER_WITHIN_MS,
    })
  } catch (error) {
    const why = codeOf(error) === 'ECONNREFUSED' ? 'no agent runs there; start it, or name another address' : `no agent answered: ${messageOf(error)}`
    throw new UsageError(`${command}: ${url}: ${why}`, { cause: error })
  }
  if (answer.status < 200 || answer.status > 299) {
    const hint = answer.status === 401 ? " (http.token, or WARPWATCH_HTTP__TOKEN, must be the agent's)" : ''
    throw new UsageError(`${command}: ${problemOf(answer)}${hint}`)
  }
  return answer.status === 204 ? undefined : JSON.parse(answer.text)
}
