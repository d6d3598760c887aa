// `replay --json` of one recording is the same to the byte on every run, whatever the machine's time zone, locale and home.
import { spawnSync } from 'node:child_process'
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventLine, metaLine } from '../../agent/sinks/recording/line.ts'
import { createSimulation } from '../../agent/sources/simulated.ts'
import { rounds } from '../setup/rounds.ts'

const MAIN = join(import.meta.dirname, '../../dist/main.js')
const T = 1_763_600_000_000
/** One host on which much goes wrong, one after the other; minutes of each, in haste, until what is expected of it has come. `npm run test:long` waits for what follows from it, too. */
const STORY = [
  ['throttling', rounds({ full: 6, quick: 1.5 })],
  ['xid', rounds({ full: 4, quick: 1.5 })],
  ['lost-gpu', rounds({ full: 5, quick: 1.5 })],
  ['oom-neighbour', rounds({ full: 12, quick: 2 })],
  ['hung-driver', rounds({ full: 3, quick: 1.5 })],
] as const
const SPEED = rounds({ full: 1, quick: 4 })
const PLACES = [
  { TZ: 'UTC', LC_ALL: 'C' },
  { TZ: 'Pacific/Kiritimati', LC_ALL: 'tr_TR.UTF-8' },
  { TZ: 'Asia/Kathmandu', LC_ALL: 'ar_EG.UTF-8' },
] as const

describe('a recording', () => {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-replay-'))
  const file = join(folder, 'story.jsonl')
  beforeAll(async () => {
    const out = createWriteStream(file)
    out.write(metaLine('gpu-01'))
    let from = T
    for (const [scenario, minutes] of STORY) {
      const { tick } = createSimulation({ scenario, seed: 7, hostname: 'gpu-01', speed: SPEED }, from, 60)
      let lines = ''
      for (let second = 0; second < minutes * 60; second++) for (const event of tick(from + second * 1_000)) lines += eventLine(event)
      if (!out.write(lines)) await once(out, 'drain')
      from += Math.ceil(minutes + 1) * 60_000
    }
    out.end()
    await once(out, 'finish')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const replay = (place: NodeJS.ProcessEnv, ...flags: readonly string[]): string => {
    const env = { PATH: process.env['PATH'], HOME: join(folder, place['TZ'] ?? ''), ...place }
    const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, 'replay', file, ...flags], { cwd: folder, env, encoding: 'utf8', maxBuffer: 2 ** 28 })
    if (status !== 0) throw new Error(`expected replay to end with 0, came ${String(status)}: ${stderr}`)
    return stdout
  }

  // Each replay takes seconds, so the words are tried in two places only: the first, and the one whose locale writes numbers most differently.
  test.each([
    ['--json', PLACES],
    [undefined, [PLACES[0], PLACES[2]]],
  ] as const)('gives the same bytes everywhere (%s)', (flag, places) => {
    const flags = flag === undefined ? [] : [flag]
    const [first = '', ...others] = places.map((place) => replay(place, ...flags))
    for (const kind of ['throttling', 'xid', 'gpu_missing', 'cuda_oom', 'driver_hung']) expect(first).toContain(kind)
    expect(others.map((other) => other === first)).toEqual(others.map(() => true))
  })
})
