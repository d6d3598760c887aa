// The open page of the ledger: sums by hour, owner and GPU since they were last written to disk, and where the counting of each GPU stands. Pure.
import { HOUR_MS, NO_USE, type CardCheckpoint, type CardHolder, type Use, type UseCard, type UseOwner, type UseRow } from '../../model/ledger.ts'
import { createCardMeter, type CardLook, type CardMeter, type CardPart } from './card-meter.ts'
import { areSame } from './presence.ts'

export type LedgerPage = { readonly rows: readonly UseRow[]; readonly checkpoints: readonly CardCheckpoint[] }
export type LedgerBook = {
  /** Counts what was used since the last look at this GPU, and says by whom. `ownerOf` names a run; undefined: it is not known (any more). `endOf`: when a run ended, as far as that is known. */
  readonly look: (
    uuid: string,
    gpu: string,
    look: CardLook,
    ownerOf: (run: string) => UseOwner | undefined,
    endOf?: (run: string) => number | undefined,
  ) => readonly CardPart[]
  /** Tokens that a server of this owner has processed. */
  readonly tokens: (owner: UseOwner, count: number, t: number) => void
  /** The page as it is: what an agent that is killed before it is taken would lose. */
  readonly page: () => LedgerPage
  /** The holders of a GPU changed since the page was last read; also true before the first reading. */
  readonly hasMoved: () => boolean
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

/** Added to each second, so in place. */
type Sum = { -readonly [Name in keyof Use]: number }
function add(sum: Sum, use: Use): void {
  sum.heldMs += use.heldMs
  sum.activeMs += use.activeMs
  sum.idleMs += use.idleMs
  sum.mibSeconds += use.mibSeconds
  sum.joules += use.joules
  sum.tokens += use.tokens
}

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
  const wholeCards = new Map<string, UseCard>()
  const wholeCard = (uuid: string, gpu: string): UseCard => {
    let card = wholeCards.get(uuid)
    if (card?.gpu !== gpu) {
      card = { uuid, gpu }
      if (meters.has(uuid)) wholeCards.set(uuid, card)
    }
    return card
  }
  const lastHolders = new Map<string, readonly CardHolder[]>()
  let hasMoved = true
  let rows = new Map<string, UseRow & { readonly use: Sum }>()
  const totals = new Map<string, { readonly owner: UseOwner; readonly use: Sum }>()

  /** The row that was last added to for a card object: the same one comes each second, and a key of text for each would take longer. */
  let lately = new WeakMap<UseCard, { readonly hour: number; readonly owner: UseOwner; readonly use: Sum }>()
  const enter = (hour: number, owner: UseOwner, card: UseCard, use: Use): void => {
    const last = lately.get(card)
    if (last?.hour === hour && last.owner === owner) return add(last.use, use)
    let key = `${hour}\n${ownerKey(owner)}\n${cardKey(card)}`
    let known = rows.get(key)
    let of = owner
    if (known === undefined && rows.size >= MAX_ROWS) {
      of = { ...groupOf(owner), job: OTHERS }
      key = `${hour}\n${ownerKey(of)}\n${cardKey(card)}`
      known = rows.get(key)
    }
    const sum: Sum = known?.use ?? { ...use }
    if (known === undefined) rows.set(key, { hour, owner: of, card, use: sum })
    else add(sum, use)
    lately.set(card, { hour, owner, use: sum })
  }
  const startRows = (): void => {
    rows = new Map()
    lately = new WeakMap()
  }
  const count = (owner: UseOwner, use: Use): void => {
    if (owner.unheld === true) return
    let of = groupOf(owner)
    let known = totals.get(ownerKey(of))
    if (known === undefined && totals.size >= MAX_TOTALS) {
      of = OTHER_USERS
      known = totals.get(ownerKey(of))
    }
    if (known === undefined) totals.set(ownerKey(of), { owner: of, use: { ...use } })
    else add(known.use, use)
  }
  const use = (owner: UseOwner, card: UseCard, of: Use, t: number): void => {
    enter(Math.floor(t / HOUR_MS), owner, card, of)
    count(owner, of)
  }
  const ownersOf = (
    holders: readonly CardHolder[],
    ownerOf: (run: string) => UseOwner | undefined,
    before: ReadonlyMap<string, UseOwner> | undefined,
  ): ReadonlyMap<string, UseOwner> => {
    if (before?.size === holders.length && holders.every(({ run }) => before.has(run) && before.get(run) === ownerOf(run))) return before
    const now = new Map<string, UseOwner>()
    for (const { run } of holders) {
      const owner = ownerOf(run)
      if (owner !== undefined) now.set(run, owner)
    }
    return now
  }
  const meterOf = (uuid: string): CardMeter | undefined => {
    const known = meters.get(uuid)
    if (known !== undefined || meters.size >= MAX_CARDS) return known
    const meter = createCardMeter(uuid)
    meters.set(uuid, meter)
    return meter
  }
  const withOwners = (checkpoint: CardCheckpoint | undefined): readonly CardCheckpoint[] => {
    if (checkpoint === undefined) return []
    const owners = lastOwners.get(checkpoint.uuid)
    return [owners === undefined || owners.size === 0 ? checkpoint : { ...checkpoint, owners: Object.fromEntries(owners) }]
  }
  const page = (): LedgerPage => {
    hasMoved = false
    return { rows: [...rows.values()], checkpoints: [...meters.values()].flatMap((meter) => withOwners(meter.checkpoint())) }
  }
  return {
    look(uuid, gpu, look, ownerOf, endOf = () => undefined) {
      const parts = meterOf(uuid)?.look(look, endOf) ?? []
      const before = lastOwners.get(uuid)
      const now = ownersOf(look.holders, ownerOf, before)
      if (meters.has(uuid)) {
        lastOwners.set(uuid, now)
        hasMoved ||= !areSame(lastHolders.get(uuid) ?? [], look.holders)
        lastHolders.set(uuid, look.holders)
      }
      for (const { holder, isUnheld, use: of } of parts) {
        const owner: UseOwner =
          holder === undefined
            ? isUnheld === true || look.holders.length === 0
              ? NOBODY
              : UNKNOWN
            : (ownerOf(holder.run) ?? before?.get(holder.run) ?? UNKNOWN)
        use(owner, holder?.card ?? wholeCard(uuid, gpu), of, look.t)
      }
      return parts
    },
    tokens: (owner, tokens, t) => use(owner, NO_CARD, { ...NO_USE, tokens }, t),
    page,
    hasMoved: () => hasMoved,
    take() {
      const taken = page()
      startRows()
      return taken
    },
    giveBack(taken) {
      const newer = rows
      startRows()
      for (const { hour, owner, card, use: of } of [...taken.rows, ...newer.values()]) enter(hour, owner, card, of)
    },
    restore(checkpoints) {
      for (const checkpoint of checkpoints.slice(0, MAX_CARDS)) {
        const { uuid, owners = {} } = checkpoint
        meters.set(uuid, createCardMeter(uuid, checkpoint))
        lastOwners.set(uuid, new Map(Object.entries(owners)))
      }
    },
    totals: () => totals,
  }
}
