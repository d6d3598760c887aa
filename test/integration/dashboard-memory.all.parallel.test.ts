// What an open dashboard holds does not grow with the seconds that it shows: objects are counted, in a real Chromium.
import { expect, test } from 'vitest'
import { openPlayed } from '../../bench/lib/played-page.ts'
import { startSimulatedHost } from '../../bench/lib/simulated-host.ts'
import { DESKTOP, hasChromium, launchTestBrowser } from '../setup/browser.ts'
import { rounds } from '../setup/rounds.ts'

/** Drawn at once, as in a tab that is looked at now and then. */
const BATCH = 20
/** Seconds between two counts. */
const STEP = 200
const COUNTS = rounds({ full: 5, quick: 3 })
/** What is opened and closed on the way; one object kept of each second, with its figures, is far above. */
const GROWTH = 1_000

test.skipIf(!hasChromium)('a tab keeps nothing of the seconds that are over (needs Debian’s chromium)', async () => {
  await using browser = await launchTestBrowser()
  const host = await startSimulatedHost({ gpus: 4, containers: 8, processes: 12 })
  const { session, play, fetchedAhead, close } = await openPlayed(browser, host, DESKTOP)
  const playAll = async (ticks: number): Promise<void> => {
    for (let n = 0; n < ticks; n += BATCH) await play(BATCH)
  }
  /** Chromium collects what is no longer used before it answers. */
  const objects = async (): Promise<number> => {
    const { result: prototype } = await session.send('Runtime.evaluate', { expression: 'Object.prototype' })
    const { objects: found } = await session.send('Runtime.queryObjects', { prototypeObjectId: prototype.objectId ?? '', objectGroup: 'count' })
    const { result } = await session.send('Runtime.callFunctionOn', {
      objectId: found.objectId ?? '',
      functionDeclaration: 'function () { return this.length }',
    })
    await session.send('Runtime.releaseObjectGroup', { objectGroup: 'count' })
    return Number(result.value)
  }
  await playAll(STEP)
  await fetchedAhead()
  const counts: number[] = []
  while (counts.length < COUNTS) {
    await playAll(STEP)
    counts.push(await objects())
  }
  const [first = 0] = counts
  expect(first).toBeGreaterThan(1_000)
  expect(Math.max(...counts) - Math.min(...counts), `objects after each ${STEP} s: ${counts.join(', ')}`).toBeLessThan(GROWTH)
  await close()
  await host.close()
})
