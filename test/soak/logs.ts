// An hour (or MINUTES) of 20 containers that print 5 MB/s together, followed by the built agent: flat memory, no line lost, each fault counted once.
// Run by test/soak/main.ts; exit code 1 when a figure of the table misses its limit.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import { startAgentProcess, get } from '../../bench/lib/agent-process.ts'
import { printTable, type Row } from '../../bench/lib/table.ts'
import { incident, incidentSummary } from '../../agent/http/api/incident-schemas.ts'
import { LOG_KINDS } from '../../agent/model/kinds.ts'
import { fakeLibrary } from '../fakes/nvml/build.ts'
import { eightH100, scenarioFile } from '../fakes/nvml/scenario.ts'
import { readPage } from '../setup/agent.ts'
import { startDocker } from '../setup/docker.ts'
import { poll } from '../setup/poll.ts'
import { startWriters } from './log-writers.ts'
import { minutesWanted } from './minutes.ts'
import { cpuSecondsOf, memoryOf, perHour } from './process-figures.ts'

const CONTAINERS = 20
const BYTES_PER_SECOND = 5_000_000
const MIB = 1024 ** 2
/**
 * Growth of the agent's own pages over the last half: what an hour may add without anything being kept for ever. In the first half the number of
 * open incidents rises to its level (each stays open for 15 minutes of quiet), and V8's heap to three times of what lives in it.
 */
const MAX_GROWTH = 4 * MIB
/** Less time shows the rise of the first half hour. */
const SLOPE_FROM_MINUTES = 60
const minutes = minutesWanted()
const say = (text: string): void => void process.stdout.write(`${new Date().toISOString()} ${text}\n`)
const mib = (bytes: number): string => (bytes / MIB).toFixed(1)

const folder = mkdtempSync(join(tmpdir(), 'warpwatch-soak-logs-'))
const docker = await startDocker()
const dockerd = Number(readFileSync(join(dirname(docker.socketPath), 'docker.pid'), 'utf8'))
const scene = scenarioFile(eightH100())
const agent = startAgentProcess({
  port: 19_846,
  env: {
    FAKE_NVML_SCENARIO: scene.path,
    WARPWATCH_GPU__LIBRARY: fakeLibrary() ?? '',
    WARPWATCH_CONTAINERS__ENGINES: docker.socketPath,
    // What other programs of this machine do is none of the soak's business.
    WARPWATCH_LOGS__KERNEL: 'false',
  },
})
const page = async () => readPage((await get(`${agent.url}/metrics`)) ?? '')
const logFigure = async (name: string): Promise<number> => (await page()).value(`warpwatch_agent_log_${name}_total`, { stream: 'container' }) ?? 0

/** `KIND CONTAINER` to how often, over all incidents that logs told and what followed from them: the fake GPUs are held by nobody who lives, and that is told too. */
async function counted(): Promise<{ readonly faults: Map<string, number>; readonly incidents: number }> {
  const list = z.array(incidentSummary).parse(JSON.parse((await get(`${agent.url}/api/v1/incidents?limit=1000`)) ?? ''))
  const faults = new Map<string, number>()
  const add = (kind: string, name: string, count: number): void => void faults.set(`${kind} ${name}`, (faults.get(`${kind} ${name}`) ?? 0) + count)
  const reported = list.filter(({ kind }) => LOG_KINDS.some((known) => known === kind))
  for (const { id } of reported) {
    const { kind, subject, count, consequences } = incident.parse(JSON.parse((await get(`${agent.url}/api/v1/incidents/${id}`)) ?? ''))
    const name = subject.container?.name ?? '?'
    add(kind, name, count)
    for (const consequence of consequences) add(consequence.kind, consequence.container ?? name, consequence.count)
  }
  return { faults, incidents: reported.length }
}
const sum = (values: Iterable<number>): number => [...values].reduce((total, value) => total + value, 0)

async function soak(): Promise<void> {
  await poll(async () => (await get(`${agent.url}/metrics`))?.includes('warpwatch_agent_log_lines_total{stream="container"'), {
    what: 'the agent to follow logs',
    deadlineMs: 20_000,
  })
  const child = await poll(() => agent.pids().find((pid) => pid !== agent.pid), { what: 'the sampler child', deadlineMs: 20_000 })
  const startedAt = Date.now()
  const cpuAtStart = { main: cpuSecondsOf(agent.pid), child: cpuSecondsOf(child), dockerd: cpuSecondsOf(dockerd) }
  const writers = await startWriters(docker, folder, CONTAINERS, BYTES_PER_SECOND)
  const { written } = writers
  const minutesSeen: { readonly ms: number; readonly main: ReturnType<typeof memoryOf>; readonly child: ReturnType<typeof memoryOf> }[] = []
  say(`${minutes} min of ${CONTAINERS} containers, the agent is ${agent.pid}, dockerd ${dockerd}`)
  for (let minute = 1; minute <= minutes; minute++) {
    await delay(Math.max(0, startedAt + minute * 60_000 - Date.now()))
    const seen = { ms: Date.now() - startedAt, main: memoryOf(agent.pid), child: memoryOf(child) }
    minutesSeen.push(seen)
    const cpu = cpuSecondsOf(agent.pid) + cpuSecondsOf(child) - cpuAtStart.main - cpuAtStart.child
    const faults = (await counted()).faults
    say(
      `${String(minute).padStart(3)} min: RSS ${mib(seen.main.rss)} + ${mib(seen.child.rss)}, PSS ${mib(seen.main.pss)} + ${mib(seen.child.pss)}, own ${mib(seen.main.anonymous)} + ${mib(seen.child.anonymous)} MiB, ` +
        `agent ${cpu.toFixed(1)} s CPU, dockerd ${(cpuSecondsOf(dockerd) - cpuAtStart.dockerd).toFixed(0)} s, lines written ${written.lines}, read ${await logFigure('lines')}, ` +
        `faults written ${sum(written.faults.values())}, counted ${sum(faults.values())}`,
    )
  }
  await writers.stop()
  const endedAt = Date.now()
  const cpu = {
    main: cpuSecondsOf(agent.pid) - cpuAtStart.main,
    child: cpuSecondsOf(child) - cpuAtStart.child,
    dockerd: cpuSecondsOf(dockerd) - cpuAtStart.dockerd,
  }
  // The agent reports its counters each ten seconds.
  for (const until = Date.now() + 45_000; Date.now() < until && (await logFigure('lines')) < written.lines;) await delay(500)
  const linesRead = await logFigure('lines')
  const { faults, incidents } = await counted()
  const wrong = [...new Set([...written.faults.keys(), ...faults.keys()])]
    .map((key) => ({ key, wrote: written.faults.get(key) ?? 0, count: faults.get(key) ?? 0 }))
    .filter(({ wrote, count }) => wrote !== count)
  const skipped = (await page()).samples.filter(({ name, value }) => name === 'warpwatch_agent_log_skipped_total' && value > 0)
  const late = minutesSeen.slice(Math.floor(minutesSeen.length / 2))
  const growth = (what: 'rss' | 'pss' | 'anonymous'): number => perHour(late.map(({ ms, main, child: own }) => ({ ms, value: main[what] + own[what] })))
  const hours = (endedAt - startedAt) / 3_600_000
  const row = (what: string, figure: string, limit?: string, ok?: boolean): Row => ({
    what,
    figure,
    ...(limit === undefined ? {} : { limit }),
    ...(ok === undefined ? {} : { ok }),
  })
  const last = minutesSeen.at(-1)
  const flat = minutes < SLOPE_FROM_MINUTES || growth('anonymous') <= MAX_GROWTH
  say(`${minutes} min of ${CONTAINERS} containers`)
  printTable([
    row('bytes written, MB/s', (written.bytes / (endedAt - startedAt) / 1000).toFixed(2), '5.0', written.bytes / (endedAt - startedAt) / 1000 >= 4.75),
    row('lines written · read', `${written.lines} · ${linesRead}`, 'equal', written.lines === linesRead),
    row('lines left out', String(sum(skipped.map(({ value }) => value))), '0', skipped.length === 0),
    row('faults written · counted', `${sum(written.faults.values())} · ${sum(faults.values())}`, 'equal, each', wrong.length === 0),
    row('incidents', String(incidents)),
    row("growth of the agent's own pages, last half, MiB/h", mib(growth('anonymous')), `${mib(MAX_GROWTH)} (from ${SLOPE_FROM_MINUTES} min)`, flat),
    row('growth of RSS · PSS, MiB/h', `${mib(growth('rss'))} · ${mib(growth('pss'))}`),
    row('PSS of main · child at the end, MiB', `${mib(last?.main.pss ?? 0)} · ${mib(last?.child.pss ?? 0)}`),
    row('PSS of both, most ever, MiB', mib(Math.max(...minutesSeen.map(({ main, child: own }) => main.pss + own.pss)))),
    row('CPU seconds an hour, main · child', `${(cpu.main / hours).toFixed(0)} · ${(cpu.child / hours).toFixed(0)}`),
    row('CPU seconds an hour, dockerd beside it', (cpu.dockerd / hours).toFixed(0)),
    row('slowest write into a pipe, ms', written.slowestMs.toFixed(0)),
  ])
  for (const { key, wrote, count } of wrong.slice(0, 30)) say(`${key}: written ${wrote}, counted ${count}`)
  for (const { labels, value } of skipped) say(`left out: ${value} ${JSON.stringify(labels)}`)
  const words = agent.stderr().match(/^.*(error|warn) .*$/gm) ?? []
  for (const line of words.slice(0, 20)) say(`the agent said: ${line}`)
}

async function end(): Promise<void> {
  await agent.stop()
  await docker.close()
  scene.remove()
  rmSync(folder, { recursive: true, force: true })
}
// Given up by hand: nothing may go on writing.
process.once('SIGINT', () => void end().finally(() => process.exit(130)))
process.once('SIGTERM', () => void end().finally(() => process.exit(143)))
try {
  await soak()
} finally {
  await end()
}
