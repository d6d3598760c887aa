// Who is notified of incidents: how each notifier is, a test message to it, what was set aside tried again.
import { signal } from '@preact/signals'
import type { NotifierRow, NotifierTest } from '../../../../agent/model/notification.ts'
import { ApiError, isObject, send, storedToken } from '../../parts/connection/api.ts'

const isNotifier = (value: unknown): value is NotifierRow =>
  isObject(value) &&
  ['name', 'type', 'host', 'status'].every((key) => typeof value[key] === 'string') &&
  ['waiting', 'delivered', 'set_aside', 'expired'].every((key) => typeof value[key] === 'number')
const isTest = (value: unknown): value is NotifierTest => isObject(value) && typeof value['result'] === 'string' && typeof value['took_ms'] === 'number'

export function parseNotifiers(value: unknown): readonly NotifierRow[] {
  if (!Array.isArray(value) || !value.every(isNotifier)) throw new Error(`notifiers must be a list of notifiers, not ${JSON.stringify(value)?.slice(0, 80)}`)
  return value
}

export type Said = { readonly good: boolean; readonly text: string }
/** What came of the last button, by the notifier's name; undefined while it is on its way. */
export const said = signal<ReadonlyMap<string, Said | undefined>>(new Map())

const RESULTS = {
  delivered: 'arrived',
  retry: 'did not arrive, and would be tried again',
  rejected: 'was refused',
  unusable: 'could not be put into words',
} as const

export function testText({ result, status, took_ms: tookMs, why }: NotifierTest): Said {
  const facts = [status === undefined ? '' : `HTTP ${status}`, `${Math.round(tookMs)} ms`, why ?? ''].filter((fact) => fact !== '')
  return { good: result === 'delivered', text: `The test ${RESULTS[result]} (${facts.join(', ')})` }
}

async function attempt(name: string, run: () => Promise<Said>): Promise<void> {
  const say = (word: Said | undefined): void => void (said.value = new Map(said.peek()).set(name, word))
  say(undefined)
  try {
    say(await run())
  } catch (error) {
    say({ good: false, text: error instanceof ApiError ? error.failure.message : 'the agent does not answer' })
  }
}

const pathOf = (name: string, what: 'test' | 'retry'): string => `api/v1/notifiers/${encodeURIComponent(name)}/${what}`

export const sendTest = (name: string): Promise<void> =>
  attempt(name, async () => {
    const reported = await send('POST', pathOf(name, 'test'), storedToken(), {})
    if (!isTest(reported)) throw new Error(`${pathOf(name, 'test')}: must be the result of a test message, not ${JSON.stringify(reported)?.slice(0, 80)}`)
    return testText(reported)
  })
export const retrySetAside = (name: string): Promise<void> =>
  attempt(name, async () => {
    const reported = await send('POST', pathOf(name, 'retry'), storedToken(), {})
    const count = isObject(reported) && typeof reported['retried'] === 'number' ? reported['retried'] : 0
    return { good: true, text: `${count} ${count === 1 ? 'message is' : 'messages are'} tried again` }
  })
