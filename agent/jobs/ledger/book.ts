// The open page of the ledger: sums by hour, owner and GPU since they were last written to disk, and where the counting of each GPU stands. Pure.
import { addUse, HOUR_MS, NO_USE, type CardCheckpoint, type Use, type UseCard, type UseOwner, type UseRow } from '../../model/ledger.ts'
import { createCardMeter, type CardLook, type CardMeter, type CardPart } from './card-meter.ts'

export type LedgerPage = { readonly rows: readonly UseRow[]; readonly checkpoints: readonly CardCheckpoint[] }
export type LedgerBook = {
  /** Counts what was used since the last look at this GPU, and says by whom. `ownerOf` names a run; undefined: it is not known (any more). */
  readonly look: (uuid: string, gpu: string, look: CardLook, ownerOf: (run: string) => UseOwner | undefined) => readonly CardPart[]
  /** Tokens that a server of this owner has processed. */
  readonly tokens: (owner: UseOwner, count: number, t: number) => void
  /** What is to be written; a page that could not be written is given back. */
  readonly take: () => LedgerPage
  readonly giveBack: (page: LedgerPage) => void
  readonly restore: (checkpoints: readonly CardCheckpoint[]) => void
  /** What each user, namespace and account used since the agent started, for /metrics. */
  readonly totals: () => ReadonlyMap<string, { readonly owner: UseOwner; readonly use: Use }>
}

/** While the disk is lost; beyond that what comes last is added to the others of its user. */
const MAX_ROWS = 20_000
/** Series on /metrics: those that come later are counted together. */
const MAX_TOTALS = 200
const MAX_CARDS = 256
export const OTHERS = '(others)'
const NO_CARD: UseCard = { uuid: '', gpu: '' }
const NOBODY: UseOwner = { unheld: true }
const UNKNOWN: UseOwner = {}
const OTHER_USERS: UseOwner = { user: OTHERS }

/** What is computed of an owner or a card, kept as long as the object lives: the same ones come each second. */
function kept<K extends object, V>(compute: (of: K) => V): (of: K) => V {
  const known = new WeakMap<K, V>()
  return (of) => {
    let value = known.get(of)
    if (value === undefined) known.set(of, (value = compute(of)))
    return value
  }
}
const ownerKey = kept(
  ({ job_id: id = '', user = '', namespace = '', account = '', unheld }: UseOwner): string =>
    `${id}\n${user}\n${namespace}\n${account}\n${unheld === true ? 1 : ''}`,
)
const cardKey = kept(({ uuid, gi = '', ci = '' }: UseCard): string => `${uuid}\n${gi}\n${ci}`)
/** The owner without the job. */
const groupOf = kept(({ user, namespace, account }: UseOwner): UseOwner => ({
  ...(user === undefined ? {} : { user }),
  ...(namespace === undefined ? {} : { namespace }),
  ...(account === undefined ? {} : { account }),
}))

export function createLedgerBook(): LedgerBook {
  const meters = new Map<string, CardMeter>()
  /** Of the runs at the last look at each GPU: what ends is charged for the rest of its time. */
  const lastOwners = new Map<string, ReadonlyMap<string, UseOwner>>()
  let rows = new Map<string, UseRow>()
  const totals = new Map<string, { readonly owner: UseOwner; readonly use: Use }>()

  const enter = (row: UseRow): void => {
    const keyOf = (owner: UseOwner): string => `${row.hour}\n${ownerKey(owner)}\n${cardKey(row.card)}`
    let { owner } = row
    if (rows.size >= MAX_ROWS && !rows.has(keyOf(owner))) owner = { ...groupOf(owner), job: OTHERS }
    const key = keyOf(owner)
    const known = rows.get(key)
    rows.set(key, known === undefined ? { ...row, owner } : { ...known, use: addUse(known.use, row.use) })
  }
  const count = (owner: UseOwner, use: Use): void => {
    if (owner.unheld === true) return
    const group = groupOf(owner)
    const isRoom = totals.size < MAX_TOTALS || totals.has(ownerKey(group))
    const of = isRoom ? group : OTHER_USERS
    const known = totals.get(ownerKey(of))
    totals.set(ownerKey(of), { owner: of, use: known === undefined ? use : addUse(known.use, use) })
  }
  const use = (owner: UseOwner, card: UseCard, of: Use, t: number): void => {
    enter({ hour: Math.floor(t / HOUR_MS), owner, card, use: of })
    count(owner, of)
  }
  const meterOf = (uuid: string): CardMeter | undefined => {
    const known = meters.get(uuid)
    if (known !== undefined || meters.size >= MAX_CARDS) return known
    const meter = createCardMeter(uuid)
    meters.set(uuid, meter)
    return meter
  }
  return {
    look(uuid, gpu, look, ownerOf) {
      const parts = meterOf(uuid)?.look(look, (run) => ownerOf(run) !== undefined) ?? []
      const before = lastOwners.get(uuid)
      if (meters.has(uuid))
        lastOwners.set(
          uuid,
          new Map(
            look.holders.flatMap(({ run }) => {
              const owner = ownerOf(run)
              return owner === undefined ? [] : [[run, owner] as const]
            }),
          ),
        )
      for (const { holder, isUnheld, use: of } of parts) {
        const owner: UseOwner =
          holder === undefined
            ? isUnheld === true || look.holders.length === 0
              ? NOBODY
              : UNKNOWN
            : (ownerOf(holder.run) ?? before?.get(holder.run) ?? UNKNOWN)
        use(owner, holder?.card ?? { uuid, gpu }, of, look.t)
      }
      return parts
    },
    tokens: (owner, tokens, t) => use(owner, NO_CARD, { ...NO_USE, tokens }, t),
    take() {
      const page = { rows: [...rows.values()], checkpoints: [...meters.values()].flatMap((meter) => meter.checkpoint() ?? []) }
      rows = new Map()
      return page
    },
    giveBack(page) {
      const newer = rows
      rows = new Map()
      for (const row of [...page.rows, ...newer.values()]) enter(row)
    },
    restore(checkpoints) {
      for (const checkpoint of checkpoints.slice(0, MAX_CARDS)) meters.set(checkpoint.uuid, createCardMeter(checkpoint.uuid, checkpoint))
    },
    totals: () => totals,
  }
}
