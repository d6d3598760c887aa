// A test message to one notifier, at once and past everything that waits; what the receiver makes of it.
import { randomUUID } from 'node:crypto'
import type { ProxyFor } from '../agent/lib/proxy.ts'
import type { IncidentKind } from '../agent/model/kinds.ts'
import type { Message, NotifierTest, Reach } from '../agent/model/notification.ts'
import type { BuiltNotifier } from './build.ts'
import { attempt } from './delivery/attempt.ts'
import { outgoing } from './messages/outgoing.ts'
import type { OutgoingRequest } from './notifiers/definition.ts'
import { sampleIncident } from './sample.ts'

export type TestOptions = {
  readonly host: string
  readonly reach: Reach
  readonly kind: IncidentKind
  /** The end of the sample. */
  readonly resolved?: boolean
  readonly t: number
  /** Without it: what the environment says. */
  readonly proxyFor?: ProxyFor
}

export function testMessage({ host, reach, kind, resolved = false, t }: TestOptions): Message {
  const incident = outgoing(sampleIncident({ kind, t, resolved }))
  return { key: randomUUID(), t, host, ...reach, items: [{ event: resolved ? 'resolved' : 'firing', reason: 'test', incident }], count: 1 }
}

/** Throws as the notifier does when the message cannot be put into words. */
export const testRequest = ({ notifier }: BuiltNotifier, options: TestOptions): OutgoingRequest => notifier.request(testMessage(options), new Map())

/** One try, whatever comes of it. */
export async function sendTest({ name, notifier, options }: BuiltNotifier, about: TestOptions): Promise<NotifierTest> {
  const { proxyFor } = about
  const begun = performance.now()
  const { unusable, result, status, ...verdict } = await attempt({
    notifier,
    options,
    message: testMessage(about),
    now: Date.now,
    ...(proxyFor === undefined ? {} : { proxyFor }),
  })
  return {
    notifier: name,
    host: notifier.host,
    result: unusable === true ? 'unusable' : result,
    ...(status === undefined ? {} : { status }),
    took_ms: Math.round(performance.now() - begun),
    ...('why' in verdict ? { why: verdict.why } : {}),
  }
}
