// `warpwatch alerts test NAME`: builds the notifier from the configuration and sends a sample, or prints the request with its secrets hidden.
import { buildNotifier } from '../../../alerts/build.ts'
import { sendTest, testRequest, type TestOptions } from '../../../alerts/test-message.ts'
import type { OutgoingRequest } from '../../../alerts/notifiers/definition.ts'
import { localUrl } from '../../config/listen.ts'
import { HIDDEN } from '../../config/print.ts'
import type { Config } from '../../config/schema.ts'
import { nearest } from '../../lib/nearest.ts'
import { proxyRules } from '../../lib/proxy.ts'
import { shownHost } from '../../lib/shown-url.ts'
import type { NotifierConfig } from '../../model/alert-settings.ts'
import type { IncidentKind } from '../../model/kinds.ts'
import type { NotifierTest } from '../../model/notification.ts'
import { messageOf } from '../../text/error.ts'
import { UsageError, type Io } from '../command.ts'
import { plain } from '../plain.ts'

export type Wanted = { readonly name: string; readonly kind: IncidentKind; readonly resolved: boolean; readonly print: boolean }

const isGroup = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null
/** Shorter ones would hide half of a message, and are no secrets. */
const MIN_SECRET = 4
/** Set by us, or by the form of what is sent. */
const PLAIN_HEADERS: ReadonlySet<string> = new Set(['content-type', 'idempotency-key'])

/** Every text of the options that is printed differently than it is: secrets, and what was looked up elsewhere. */
function secretsOf(value: unknown, shown: unknown): readonly string[] {
  if (typeof value === 'string') return value === shown ? [] : [value]
  if (!isGroup(value)) return []
  return Object.entries(value).flatMap(([name, part]) => secretsOf(part, isGroup(shown) ? shown[name] : undefined))
}
const isSet = ({ options, shown }: NotifierConfig): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(options).filter(([name]) => Object.hasOwn(shown, name)))

function hide(text: string, secrets: readonly string[]): string {
  const forms = secrets
    .filter((secret) => secret.length >= MIN_SECRET)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
  return [...new Set(forms)].sort((a, b) => b.length - a.length).reduce((hidden, form) => hidden.replaceAll(form, HIDDEN), text)
}

type Printed = { readonly method: string; readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string }
export function printed({ method, url, headers, body }: OutgoingRequest, config: NotifierConfig): Printed {
  const secrets = secretsOf(isSet(config), config.shown)
  const names = Object.entries(headers).map(([name, value]): readonly [string, string] => [name, PLAIN_HEADERS.has(name.toLowerCase()) ? value : HIDDEN])
  return { method, url: shownHost(url), headers: Object.fromEntries(names), body: hide(body, secrets) }
}

/** JSON is easier to read in lines. */
function inLines(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

function resultText({ notifier, host, result, status, took_ms, why }: NotifierTest, type: string): string {
  const answer = `${status === undefined ? 'no answer' : `status ${status}`} after ${took_ms.toFixed(0)} ms`
  if (result === 'delivered') return `${notifier}: a test message was sent to ${host} (${type}) and taken: ${answer}\n`
  const next = {
    retry: 'A real message would be tried again until it expires.',
    rejected: 'A real message would be set aside: correct the configuration or the receiver first.',
    unusable: 'No message can be made with this configuration.',
  }[result]
  return `${notifier}: the test message to ${host} (${type}) was not taken, ${answer}: ${why ?? 'it did not say why'}\n${next}\n`
}

export async function testNotifier(config: Config, { name, kind, resolved, print }: Wanted, asJson: boolean, io: Io): Promise<number> {
  const names = config.notifiers.map((notifier) => notifier.name)
  const chosen = config.notifiers.find((notifier) => notifier.name === name)
  if (chosen === undefined) {
    const near = nearest(name, names)
    const hint = near === undefined ? 'the configuration has none (docs/notifications.md shows how)' : `the nearest is ${near}`
    throw new UsageError(`alerts: no notifier is called ${JSON.stringify(name)}; ${hint}`)
  }
  const built = await buildNotifier(chosen)
  const { base_url } = config.alerts
  const reach = { ...(base_url === '' ? {} : { base_url }), local_url: localUrl(config.http.listen) }
  const about: TestOptions = { host: config.host_name, reach, kind, resolved, t: Date.now(), proxyFor: proxyRules(config.http_client, io.env) }
  if (print) {
    let shown: Printed
    try {
      shown = printed(testRequest(built, about), chosen)
    } catch (error) {
      io.err(`warpwatch: alerts: ${name}: no message can be made: ${messageOf(error)}\n`)
      return 1
    }
    const head = [`${shown.method} ${shown.url}`, ...Object.entries(shown.headers).map(([header, value]) => `${header}: ${value}`)]
    io.out(asJson ? `${JSON.stringify(shown)}\n` : plain(`${head.join('\n')}\n\n${inLines(shown.body)}\n`))
    return 0
  }
  const tested = await sendTest(built, about)
  io.out(asJson ? `${JSON.stringify(tested)}\n` : plain(resultText(tested, chosen.type)))
  return tested.result === 'delivered' ? 0 : 1
}
