// Messages as a tired operator reads them, held as files: read them when they change.
import { expect, test } from 'vitest'
import type { Message } from '../../../agent/model/notification.ts'
import { plainText } from '../../../alerts/messages/render.ts'
import { driverMismatch, hostOomKill, item, messageOf, oom, resolvedAfter, simulated, storm, xid79 } from './messages-scenes.ts'

const all = (scenario: string, seconds: number): Message => {
  const incidents = simulated(scenario, seconds)
  return messageOf(
    incidents.map((incident) => item(incident)),
    { t: (incidents.at(-1)?.started_at ?? 0) + 400 },
  )
}
const eight = Array.from({ length: 8 }, (_, index) => xid79(index))

const SCENES: Readonly<Record<string, () => Message>> = {
  'oom-neighbour': () => all('oom-neighbour', 160),
  'host-oom-kill': () => messageOf([item(hostOomKill())]),
  'xid-79-on-8-gpus': () => messageOf(eight.map((incident) => item(incident))),
  throttling: () => all('throttling', 120),
  'lost-gpu': () => all('lost-gpu', 100),
  'driver-mismatch': () => messageOf([item(driverMismatch())]),
  'oom-resolved': () => messageOf([item(resolvedAfter(oom({ count: 12 }), 12 * 60_000))], { t: oom().started_at + 12 * 60_000 }),
  'oom-still-firing': () => messageOf([item(oom({ count: 12 }), 'repeat')], { t: oom().started_at + 4 * 3_600_000 }),
  'storm-of-500': () => ({ ...storm(500), expired: { count: 37, from: oom().started_at - 5 * 86_400_000, to: oom().started_at - 3 * 86_400_000 } }),
}

test.each(Object.keys(SCENES))('%s', async (name) => {
  const scene = SCENES[name]
  if (scene === undefined) throw new Error(`expected a scene, came ${name}`)
  await expect(`${plainText(scene())}\n`).toMatchFileSnapshot(`../../golden/messages/${name}.txt`)
})
