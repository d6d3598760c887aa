// An hour (or MINUTES) of the built agent with fake GPUs: scraped every five seconds, killed at random moments, and its history read at the end.
// Run by test/soak/main.ts; exit code 1 when a figure of the table misses its limit.
import { cpSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { printTable, type Row } from '../../bench/lib/table.ts'
import { scenarioFile } from '../fakes/nvml/scenario.ts'
import { fakeLibrary } from '../fakes/nvml/build.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'
import { judge, type Life } from './judge.ts'
import { sceneAt, tellScenes } from './load.ts'
import { minutesWanted } from './minutes.ts'

const minutes = minutesWanted()
const seed = Number(process.env['SOAK_SEED'] ?? 1)
const SCRAPE_MS = 5_000
const root = join(import.meta.dirname, '../..')
const MIB = 1024 ** 2

/** Park and Miller: the same seed kills at the same moments. */
let state = ((seed + 1) * 16_807) % 2_147_483_647
const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
const say = (text: string): void => void process.stdout.write(`${new Date().toISOString()} ${text}\n`)

const home = mkdtempSync(join(tmpdir(), 'warpwatch-soak-'))
// A copy of the build, so that one made meanwhile changes nothing under a running agent.
cpSync(join(root, 'dist'), join(home, 'dist'), { recursive: true })
symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'))
const dataDir = join(home, 'data')
const scene = scenarioFile(sceneAt(Math.floor(Date.now() / 1000)))
const reported = tellScenes(scene.path)
const env = { FAKE_NVML_SCENARIO: scene.path, WARPWATCH_GPU__LIBRARY: fakeLibrary() ?? '' }

const lives: Life[] = []
const problems: string[] = []
const scrapeMs: number[] = []
const memory: { readonly life: number; readonly age: number; readonly bytes: number }[] = []

async function begin(): Promise<{ readonly agent: RunningAgent; readonly firstReading: number }> {
  const agent = await startAgent({ main: join(home, 'dist/main.js'), dataDir, env })
  await poll(async () => (await agent.metrics()).samples.filter(({ name }) => name === 'warpwatch_gpu_power_watts').length === 8, {
    what: 'readings of all GPUs',
    everyMs: 10,
  })
  return { agent, firstReading: Date.now() }
}

/** Scrapes until `until`; what is wrong is noted. */
async function scrapeUntil(agent: RunningAgent, until: number, bornAt: number): Promise<void> {
  for (let next = Date.now(); next < until; next += SCRAPE_MS) {
    await delay(Math.max(0, next - Date.now()))
    try {
      const answer = await agent.get('/metrics')
      scrapeMs.push(answer.ms)
      if (answer.status !== 200 || !answer.text.includes('warpwatch_gpu_power_watts{'))
        problems.push(`${new Date().toISOString()} /metrics: status ${answer.status}, ${answer.text.length} bytes`)
    } catch (error) {
      problems.push(
        `${new Date().toISOString()} /metrics: ${error instanceof Error ? error.message : String(error)}; the agent said: ${agent.stderr().slice(-500)}`,
      )
    }
    memory.push({ life: lives.length, age: Date.now() - bornAt, bytes: agent.pssBytes() })
  }
  await delay(Math.max(0, until - Date.now()))
}

const startedAt = Date.now()
const endsAt = startedAt + minutes * 60_000
// The last third is left in peace, so that memory can be seen to stay flat.
const killsUntil = startedAt + minutes * 40_000
let { agent, firstReading } = await begin()
for (;;) {
  const bornAt = Date.now()
  const until = bornAt + 5_000 + random() * 115_000
  await scrapeUntil(agent, until < killsUntil ? until : endsAt, bornAt)
  if (until >= killsUntil) break
  await agent.kill()
  lives.push({ firstReading, end: Date.now() })
  const words = agent.stderr().match(/^.*(error|warn) .*$/gm)
  if (words !== null) problems.push(...words)
  const pause = random() < 0.3 ? random() * 8_000 : 0
  say(`killed after ${((Date.now() - bornAt) / 1000).toFixed(1)} s, begun again after ${(pause / 1000).toFixed(1)} s`)
  await delay(pause)
  ;({ agent, firstReading } = await begin())
}
lives.push({ firstReading, end: Date.now() })
const verdict = await judge(agent.url, Math.floor(startedAt / 1000) * 1000, Date.now(), lives, reported)
const words = agent.stderr().match(/^.*(error|warn) .*$/gm)
if (words !== null) problems.push(...words)
const ended = await agent.terminate()
reported.stop()

const file = join(dataDir, 'history.db')
const db = new Sqlite(file, { readonly: true })
const integrity = String(db.pragma('integrity_check', { simple: true }))
const samples = Number(db.prepare('SELECT sum(samples) FROM raw').pluck().get())
db.close()
const bytes = statSync(file).size
const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
const mib = (value: number): string => `${(value / MIB).toFixed(1)} MiB`
const beyondMs = verdict.worst?.beyondMs ?? 0
const lastLife = memory.filter(({ life }) => life === lives.length - 1)
const young = memory.filter(({ age }) => age > 20_000 && age < 40_000).map((at) => at.bytes)

const peak = Math.max(...memory.map((at) => at.bytes))
const row = (what: string, figure: string, limit?: string, ok?: boolean): Row => ({
  what,
  figure,
  ...(limit === undefined ? {} : { limit }),
  ...(ok === undefined ? {} : { ok }),
})
say(`${minutes} min, ${lives.length - 1} kills, seed ${seed}`)
printTable([
  row('longest hole beyond the downtime', `${(beyondMs / 1000).toFixed(2)} s`, '1 s', beyondMs <= 1_000),
  row('holes beyond the downtime', String(verdict.holes.filter((hole) => hole.beyondMs > 0).length)),
  row('rows read', String(verdict.rows)),
  row('invalid rows', String(verdict.invalid.length), '0', verdict.invalid.length === 0),
  row('integrity', integrity, 'ok', integrity === 'ok'),
  row('bytes per raw sample, whole file', (bytes / samples).toFixed(3), '1.0', minutes < 30 || bytes / samples <= 1),
  row('raw samples in blocks', String(samples)),
  row('memory 20 to 40 s after a start, median', mib(median(young))),
  row('memory at the end of the last life', mib(median(lastLife.slice(-6).map((at) => at.bytes))), '100 MiB'),
  row('memory, most ever', mib(peak), '100 MiB', peak <= 100 * MIB),
  row('scrape, median and worst', `${median(scrapeMs).toFixed(1)} ms, ${Math.max(...scrapeMs).toFixed(0)} ms`),
  row('problems', String(problems.length), '0', problems.length === 0),
])
for (const line of [...verdict.invalid.slice(0, 20), ...problems.slice(0, 20)]) say(line)
if (verdict.worst !== undefined) say(`worst hole: ${verdict.worst.missingMs} ms missing after ${new Date(verdict.worst.after).toISOString()}`)
await agent[Symbol.asyncDispose]()
scene.remove()
// The table sets the exit code for a figure that missed its limit; then the data is kept too.
const failed = process.exitCode === 1 || ended.code !== 0
if (failed) say(`kept for a look: ${home}`)
else rmSync(home, { recursive: true, force: true })
process.exitCode = failed ? 1 : 0
