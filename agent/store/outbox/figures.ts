// What the outbox counts for each notifier, and which lost notifications its receiver has not heard of yet.
import type { Database } from 'better-sqlite3'
import type { Message } from '../../model/notification.ts'

/** Notifications that never reached a receiver, as a message reports them. */
export type Expired = NonNullable<Message['expired']>
export type StoredFigures = { readonly delivered: number; readonly failed: number; readonly expired: number; readonly last_delivered_at: number | null }
export type Figures = {
  readonly get: (notifier: string) => StoredFigures
  readonly delivered: (notifier: string, t: number) => void
  readonly failed: (notifier: string) => void
  readonly gaveUp: (notifier: string, times: readonly number[]) => void
  /** For the message that is being put together. */
  readonly takeLost: (notifier: string) => Expired | undefined
  /** That message did not arrive either. */
  readonly giveBack: (notifier: string, expired: Expired | undefined) => void
}

type LostRow = { readonly untold: number; readonly untold_from: number | null; readonly untold_to: number | null }
const NOTHING: StoredFigures = { delivered: 0, failed: 0, expired: 0, last_delivered_at: null }

export function figuresIn(db: Database): Figures {
  const get = db.prepare<[string], StoredFigures>('SELECT delivered, failed, expired, last_delivered_at FROM figures WHERE notifier = ?')
  const delivered = db.prepare<[string, number]>(
    'INSERT INTO figures (notifier, delivered, last_delivered_at) VALUES (?, 1, ?) ON CONFLICT (notifier) DO UPDATE SET delivered = delivered + 1, last_delivered_at = excluded.last_delivered_at',
  )
  const failed = db.prepare<[string]>('INSERT INTO figures (notifier, failed) VALUES (?, 1) ON CONFLICT (notifier) DO UPDATE SET failed = failed + 1')
  const count = db.prepare<[string, number]>(
    'INSERT INTO figures (notifier, expired) VALUES (?, ?) ON CONFLICT (notifier) DO UPDATE SET expired = expired + excluded.expired',
  )
  const addLost = db.prepare<{ notifier: string } & Expired>(
    'INSERT INTO figures (notifier, untold, untold_from, untold_to) VALUES (:notifier, :count, :from, :to) ON CONFLICT (notifier) DO UPDATE SET ' +
      'untold = untold + :count, untold_from = min(coalesce(untold_from, :from), :from), untold_to = max(coalesce(untold_to, :to), :to)',
  )
  const lost = db.prepare<[string], LostRow>('SELECT untold, untold_from, untold_to FROM figures WHERE notifier = ? AND untold > 0')
  const clear = db.prepare<[string]>('UPDATE figures SET untold = 0, untold_from = NULL, untold_to = NULL WHERE notifier = ?')
  return {
    get: (notifier) => get.get(notifier) ?? NOTHING,
    delivered: (notifier, t) => void delivered.run(notifier, t),
    failed: (notifier) => void failed.run(notifier),
    gaveUp(notifier, times) {
      if (times.length === 0) return
      const [from, to] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))]
      count.run(notifier, times.length)
      addLost.run({ notifier, count: times.length, from, to })
    },
    takeLost(notifier) {
      const row = lost.get(notifier)
      if (row === undefined) return undefined
      clear.run(notifier)
      return { count: row.untold, from: row.untold_from ?? 0, to: row.untold_to ?? 0 }
    },
    giveBack: (notifier, expired) => void (expired === undefined ? undefined : addLost.run({ notifier, ...expired })),
  }
}
