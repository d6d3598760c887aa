// kill -9 at random moments, while incidents come and end and receivers of notifications fail in every way.
import { setTimeout as delay } from 'node:timers/promises'
import { poll } from '../../setup/poll.ts'
import type { AbuseCase } from '../abuse-case.ts'
import { badReceivers, FAILURE_NAMES } from '../parts/bad-receivers.ts'
import { longestHole, sampledSeconds, samplesCome } from '../parts/sampling.ts'
import { deliveredFrom, startScene, type Delivered } from '../parts/scene.ts'

const KILLS = 200
const KILLS_SHORT = 6
/** Of this many lives one sees a crash, so that incidents come during all of the campaign. */
const CRASH_EVERY = 4
/** What the last second of a life had, and how many more may be missing in a row. */
const LAST_SECONDS = 2
const ALLOWED = { short: 3, long: 1 }

/** Of what one receiver took: incidents that were told under several keys, and ends that came before their beginnings. */
function faultsOf(taken: readonly Delivered[]): { readonly keys: number; readonly disorder: number } {
  const keys = Map.groupBy(taken, ({ id, event }) => `${id} ${event}`)
  const first = new Map<string, number>()
  for (const [i, { id, event }] of taken.entries()) if (!first.has(`${id} ${event}`)) first.set(`${id} ${event}`, i)
  return {
    keys: [...keys.values()].filter((same) => new Set(same.map(({ key }) => key)).size > 1).length,
    disorder: taken.filter(({ id, event }) => event === 'resolved' && (first.get(`${id} firing`) ?? Infinity) > (first.get(`${id} resolved`) ?? -1)).length,
  }
}

export const kills: AbuseCase = {
  id: 'kills',
  area: 'process',
  fault: `${KILLS} times kill -9 at random moments, while ${FAILURE_NAMES.length} receivers fail by turns: ${FAILURE_NAMES.join(', ')}`,
  promised:
    'every incident is delivered to every receiver, in order, again only under the same key; beside the downtime no hole in the history is longer than one interval',
  hasShortForm: true,
  async run({ short }) {
    const count = short ? KILLS_SHORT : KILLS
    const longestLifeMs = short ? 500 : 2_500
    let bad: Awaited<ReturnType<typeof badReceivers>> | undefined
    await using scene = await startScene({
      programs: Math.ceil(count / CRASH_EVERY) + 1,
      notifiers: async (receiver) => {
        bad = await badReceivers(receiver)
        return bad.notifiers
      },
    })
    if (bad === undefined) throw new Error('expected receivers, none were made')
    await using receivers = bad
    const lives: { readonly from: number; readonly to: number }[] = []
    const resolved = new Set<string>()
    let from = Date.now()
    // Where each log is read to is on disk within a second; before the very first time lines are nobody's yet.
    await samplesCome(scene.agent(), 2)
    for (let kill = 0; kill < count; kill++) {
      await receivers.fail(new Set(FAILURE_NAMES.filter(() => Math.random() < 0.5)))
      if (kill % CRASH_EVERY === 0) scene.crash()
      await delay(Math.random() * longestLifeMs)
      if (kill % CRASH_EVERY === 2) {
        const open = (await scene.incidents()).find(({ kind, status }) => kind === 'cuda_oom' && status === 'firing')
        if (open !== undefined && (await scene.resolve(open.id))) resolved.add(open.id)
      }
      lives.push({ from, to: Date.now() })
      await scene.agent().kill()
      await scene.start()
      from = Date.now()
    }
    await receivers.fail(new Set())
    scene.crash()
    const takenOf = (name: (typeof FAILURE_NAMES)[number]): readonly Delivered[] => receivers.takenBy(name).flatMap(deliveredFrom)
    let missing = ''
    await poll(
      () => {
        const lacking = FAILURE_NAMES.flatMap((name) => {
          const taken = takenOf(name)
          const firing = new Set(taken.filter(({ event }) => event === 'firing').map(({ id }) => id)).size
          const over = new Set(taken.filter(({ event }) => event === 'resolved').map(({ id }) => id))
          const ends = [...resolved].filter((id) => !over.has(id)).length
          return firing >= scene.crashes() && ends === 0 ? [] : [`${name} lacks ${scene.crashes() - firing} beginnings and ${ends} ends`]
        })
        missing = lacking.join('; ')
        return lacking.length === 0
      },
      { what: 'all to be delivered', deadlineMs: 150_000, everyMs: 100 },
    ).catch(() => false)
    const faults = FAILURE_NAMES.map((name) => faultsOf(takenOf(name)))
    const keys = faults.reduce((sum, each) => sum + each.keys, 0)
    const disorder = faults.reduce((sum, each) => sum + each.disorder, 0)
    const repeats = FAILURE_NAMES.reduce((sum, name) => {
      const taken = receivers.takenBy(name)
      return sum + taken.length - new Set(taken.map(({ key }) => key)).size
    }, 0)
    const seconds = await sampledSeconds(scene.agent().url, (lives[0]?.from ?? 0) - 2_000, Date.now())
    const holes = lives.map((life) => {
      const first = seconds.find((second) => second * 1_000 >= life.from - 1_000)
      const last = Math.floor(life.to / 1_000) - LAST_SECONDS
      return first === undefined || first > last ? 0 : longestHole(seconds, first, last)
    })
    const hole = Math.max(...holes)
    return {
      held: missing === '' && keys === 0 && disorder === 0 && hole <= (short ? ALLOWED.short : ALLOWED.long),
      observed:
        `${count} kills, ${scene.crashes()} incidents of which ${resolved.size} ended, each to ${FAILURE_NAMES.length} receivers: ${missing === '' ? '0 lost' : missing}, ` +
        `${disorder} out of order, ${keys} under a second key, ${repeats} repeated under the same; longest hole within a life ${hole} s`,
    }
  },
}
