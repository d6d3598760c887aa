// What is said of incidents to people and other systems: messages, their parts, and how the notifiers are.
import type { Severity } from './severity.ts'
import type { IncidentSummary } from './incident.ts'
import type { Run } from './job.ts'
import type { WasteReport } from './ledger.ts'

/** As the contract's webhook names it. */
export type NotificationEvent = 'firing' | 'resolved'
/** Why it is said now: `worse` is a severity that rose since the last notification, `held` what quiet hours kept back. */
export type NotificationReason = 'new' | 'worse' | 'repeat' | 'held' | 'resolved' | 'test'

/** The series that shows the fault best, as a line of text can draw it. */
export type Spark = {
  readonly metric: string
  /** In words, such as `GPU 0 memory used`. */
  readonly title: string
  /** UCUM, as in the metric's declaration. */
  readonly unit: string
  /** Unix ms of the first and the last value; values are at equal distances, at most 60 of them, null where there was no reading. */
  readonly from: number
  readonly to: number
  readonly values: readonly (number | null)[]
}

/** An incident as it leaves the host: of the evidence at most ten log lines, and one series as a sparkline. */
export type OutgoingIncident = IncidentSummary & { readonly spark?: Spark }

export type MessageItem = { readonly event: NotificationEvent; readonly reason: NotificationReason; readonly incident: OutgoingIncident }

/** How the readers of a message reach the dashboard. */
export type Reach = {
  /** Where links begin, without a slash at the end. Absent: readers on other machines cannot open the dashboard. */
  readonly base_url?: string
  /** On the agent's own host, such as `http://127.0.0.1:9839`. */
  readonly local_url: string
}

/** One message to one receiver. It is put together once; retries send the same. */
export type Message = Reach & {
  /** Stays the same over retries. */
  readonly key: string
  /** When it was put together, Unix ms. */
  readonly t: number
  readonly host: string
  /** The worst root first; one incident may be here twice, firing before resolved. Never empty. */
  readonly items: readonly MessageItem[]
  /** Distinct incidents that it is about. */
  readonly count: number
  /** Notifications that this receiver missed because it could not be reached for too long. */
  readonly expired?: { readonly count: number; readonly from: number; readonly to: number }
}

/** Runs that have ended, in one message to one receiver: never together with incidents. */
export type RunMessage = Reach &
  Pick<Message, 'key' | 't' | 'host' | 'expired'> & {
    /** In the order in which they ended. Never empty. */
    readonly runs: readonly Run[]
  }

/** Summaries of waste, in one message to one receiver: never together with anything else. */
export type WasteMessage = Reach &
  Pick<Message, 'key' | 't' | 'host' | 'expired'> & {
    /** Never empty. */
    readonly waste: readonly WasteReport[]
  }

/** How a notifier is: a row of the API. No URL: its host alone. */
export type NotifierRow = {
  readonly name: string
  readonly type: string
  /** Where it sends to, such as `hooks.slack.com`. */
  readonly host: string
  readonly status: 'ok' | 'retrying' | 'failing'
  readonly waiting: number
  /** Since when the oldest of what waits could have been sent, Unix ms; absent when nothing waits. */
  readonly oldest_waiting_at?: number
  readonly delivered: number
  /** Tries that brought no delivery and are made again. */
  readonly failed_tries: number
  readonly expired: number
  readonly set_aside: number
  readonly last_delivered_at?: number
  readonly last_error?: { readonly at: number; readonly text: string }
  readonly next_try_at?: number
}

/** The receiver's last notification of an incident; kept until the incident is long resolved. */
export type LastNotification = {
  /** `finished`: it was a run that ended; `waste`: a summary of waste; else an incident. */
  readonly event: NotificationEvent | 'finished' | 'waste'
  readonly severity: Severity
  /** When it was last put into the outbox, Unix ms. */
  readonly at: number
}

/** What the metrics report of notifications. */
export type NotificationFigures = {
  readonly notifiers: readonly NotifierRow[]
  /** Absent where none is sent. */
  readonly heartbeat?: { readonly delivered: number; readonly failed: number } | undefined
}

/** What came of a test message; `host` as in the notifier's row. */
export type NotifierTest = {
  readonly notifier: string
  readonly host: string
  /** `retry`: a real message would be tried again; `unusable`: it could not even be put into words. */
  readonly result: 'delivered' | 'retry' | 'rejected' | 'unusable'
  /** Of the receiver's answer; absent when none came. */
  readonly status?: number
  readonly took_ms: number
  /** Absent when it was delivered. */
  readonly why?: string
}
