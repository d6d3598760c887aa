// A host with known truth for the ledger of use: 16 processes that come and go on one time-sliced GPU (some for less than a second), a GPU cut by MIG, a GPU
// that is lost and comes back, and an agent that is killed. What the driver says of it is rounded as the driver does.
import { createLoadShares } from '../../agent/attribution/gpu-utilization.ts'
import { createLedgerBook, type LedgerBook } from '../../agent/jobs/ledger/book.ts'
import type { CardHolder, UseOwner } from '../../agent/model/ledger.ts'
import type { LedgerStore } from '../../agent/store/ledger.ts'
import { randomOf } from './random.ts'

export type MonthOptions = {
  readonly start: number
  readonly seconds: number
  readonly kills: number
  readonly seed: number
  /** Opens the store again, as after a crash. */
  readonly open: () => LedgerStore
}
export type Truth = { heldMs: number; activeMs: number; joules: number }
export type Month = {
  /** By job. */
  readonly truth: ReadonlyMap<string, Truth>
  /** What the counters of all GPUs have risen by. */
  readonly joules: number
  /** Largest difference between the shares of a look and the GPU's utilization. */
  readonly worstShare: number
  readonly short: number
  readonly store: LedgerStore
}

const SLOTS = 16
const IDLE_WATTS = 60
const BUSY_WATTS = 540
const FLUSH_S = 15
const DOWN_S = 3
const GONE_S = 3 * 3_600
const CARDS = { a: { uuid: 'A', gpu: '0' }, c: { uuid: 'C', gpu: '2' } } as const
const INSTANCES = ['1', '2'].map((gi): CardHolder => ({ run: `mig-${gi}`, card: { uuid: 'B', gpu: '1', gi, ci: '0' }, mib: 500 }))

type Life = { job: string; pid: number; from: number; to: number; weight: number }

export function simulateMonth({ start, seconds, kills, seed, open }: MonthOptions): Month {
  const random = randomOf(seed)
  const truth = new Map<string, Truth>()
  const of = (job: string): Truth => {
    const found = truth.get(job) ?? { heldMs: 0, activeMs: 0, joules: 0 }
    truth.set(job, found)
    return found
  }
  let nextPid = 1_000
  let short = 0
  const between = (low: number, high: number): number => low * (high / low) ** random()
  const live = (slot: number, after: number): Life => {
    const from = after + between(0.3, 900) * 1_000
    // Slot 0 starts processes of less than a second only.
    const lasts = slot === 0 ? between(0.2, 0.95) : between(0.4, 7_200)
    if (lasts < 1) short++
    return { job: `job-${slot}`, pid: nextPid++, from: slot === 0 ? after + random() * 2_000 : from, to: from + lasts * 1_000, weight: 0.02 + 0.15 * random() }
  }
  const lives = Array.from({ length: SLOTS }, (_, slot) => {
    const life = live(slot, start - 600_000)
    return slot === 0 ? { ...life, to: life.from + 500 } : life
  })
  let shares = createLoadShares()
  let store = open()
  let book: LedgerBook = createLedgerBook()
  let worstShare = 0
  let downUntil = 0
  const counters = { A: 5e6, B: 7e6, C: 9e6 }
  let joules = 0
  const killAt = new Set(Array.from({ length: kills }, () => Math.floor(30 + random() * (seconds - 60))))
  // The same objects each second, as the agent's own bookkeeping of jobs gives them.
  const owners = new Map<string, UseOwner>()
  const ownerOf = (run: string): UseOwner => {
    const job = run.split('#')[0] ?? run
    const same = owners.get(job)
    if (same !== undefined) return same
    const owner = { job_id: job, job, user: 'ada' }
    owners.set(job, owner)
    return owner
  }
  const alive = new Set<string>()
  const known = (run: string): UseOwner | undefined => (alive.has(run) ? ownerOf(run) : undefined)
  const flush = (): void => {
    const page = book.take()
    if (!store.write(page.rows, page.checkpoints)) book.giveBack(page)
  }

  for (let second = 0; second < seconds; second++) {
    const [begun, t] = [start + second * 1_000, start + (second + 1) * 1_000]
    // What happens on GPU A within this second.
    const part = new Map<Life, { held: number; active: number }>()
    let sum = 0
    for (let slot = 0; slot < SLOTS; slot++) {
      for (let life = lives[slot]; life !== undefined && life.from < t;) {
        const held = Math.max(0, Math.min(life.to, t) - Math.max(life.from, begun)) / 1_000
        if (held > 0) {
          part.set({ ...life }, { held, active: life.weight * held })
          sum += life.weight * held
        }
        if (life.to > t) break
        const next = live(slot, life.to)
        if (slot === 0) next.to = next.from + between(0.2, 0.95) * 1_000
        lives[slot] = next
        life = next
      }
    }
    const scale = sum > 1 ? 1 / sum : 1
    let held = 0
    for (const one of part.values()) held += one.held
    for (const [{ job }, one] of part) {
      const found = of(job)
      found.heldMs += one.held * 1_000
      found.activeMs += one.active * scale * 1_000
      found.joules += BUSY_WATTS * one.active * scale + (held === 0 ? 0 : (IDLE_WATTS * one.held) / held)
    }
    const ratio = Math.min(1, sum)
    const rise = { A: IDLE_WATTS + BUSY_WATTS * ratio, B: 200, C: 100 }
    // GPU C is lost for a while and comes back with a counter that starts over.
    const goneFrom = Math.floor(seconds / 2)
    const isGone = second >= goneFrom && second < goneFrom + Math.min(GONE_S, seconds / 4)
    counters.A += rise.A
    counters.B += rise.B
    joules += rise.A + rise.B
    if (!isGone) {
      counters.C = second > goneFrom && counters.C > 8e6 ? rise.C : counters.C + rise.C
      joules += rise.C
      of('steady').heldMs += 1_000
      of('steady').activeMs += 500
    }
    for (const [gi, busy] of [
      ['1', 0.8],
      ['2', 0.25],
    ] as const) {
      of(`mig-${gi}`).heldMs += 1_000
      of(`mig-${gi}`).activeMs += busy * 1_000
    }

    if (killAt.has(second)) {
      // kill -9: what is not on disk is gone, and for some seconds nobody looks.
      downUntil = second + DOWN_S
      store.close()
      store = open()
      book = createLedgerBook()
      book.restore(store.checkpoints())
      shares = createLoadShares()
    }
    if (second < downUntil) continue

    const here = [...part.keys()].filter(({ to }) => to > t)
    const loads = [...part].map(([{ pid }, { active }]) => ({ pid, ratio: Math.round(active * scale * 100) / 100 })).filter(({ ratio: load }) => load > 0)
    const shown = Math.round(ratio * 100) / 100
    const divided = shares.divide(
      { ratio: shown, loads },
      here.map(({ pid }) => pid),
      t,
    )
    if (divided !== undefined && here.length === part.size)
      worstShare = Math.max(worstShare, Math.abs([...divided.values()].reduce((a, b) => a + b, 0) - shown))
    alive.clear()
    for (const run of ['mig-1', 'mig-2', 'steady']) alive.add(run)
    const holders = here.map(({ job, pid }): CardHolder => {
      alive.add(`${job}#${pid}`)
      const own = divided?.get(pid)
      return { run: `${job}#${pid}`, card: CARDS.a, mib: 1_000, ...(own === undefined ? {} : { ratio: own }) }
    })
    book.look('A', '0', { t, ratio: shown, counter: Math.round(counters.A * 1_000) / 1_000, holders }, known)
    book.look(
      'B',
      '1',
      {
        t,
        instances: new Map([
          ['1', 0.8],
          ['2', 0.25],
        ]),
        counter: counters.B,
        holders: INSTANCES,
      },
      known,
    )
    if (!isGone) book.look('C', '2', { t, ratio: 0.5, counter: counters.C, holders: [{ run: 'steady', card: CARDS.c, mib: 100, ratio: 0.5 }] }, known)
    if (second % FLUSH_S === 0) flush()
    if (second % 3_600 === 0) store.maintain(t)
  }
  flush()
  return { truth, joules, worstShare, short, store }
}
