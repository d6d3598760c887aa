// Several hosts on one page: twenty real agents on loopback, one that dies, one that does not answer; how soon that is told, and what the page costs its host.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { freePort } from '../test/setup/free-port.ts'
import { poll } from '../test/setup/poll.ts'
import { printTable } from './lib/table.ts'

const MAIN = join(import.meta.dirname, '../dist/main.js')
const AGENTS = Number(process.env['BENCH_HOSTS'] ?? 20)
const MEASURE_S = Number(process.env['BENCH_SECONDS'] ?? 60)
const LIMIT_CPU = 0.01
const LIMIT_TOLD_MS = 5_000
const TICKS_PER_SECOND = 100
const entries = z.array(z.looseObject({ name: z.string(), problem: z.string().optional(), summary: z.looseObject({ gpus: z.number() }).optional() }))

function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

export async function run(): Promise<void> {
  if (!existsSync(MAIN)) throw new Error(`no ${MAIN}; run \`npm run build\` first`)
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-bench-hosts-'))
  const children: ChildProcess[] = []
  const start = async (name: string, config: string): Promise<{ readonly url: string; readonly child: ChildProcess }> => {
    const [listen, file] = [`127.0.0.1:${await freePort()}`, join(folder, `${name}.yaml`)]
    writeFileSync(file, `${config}host_name: ${name}\n`)
    const child = spawn(process.execPath, [MAIN, 'run', '--simulate', '--config', file, '--listen', listen, '--data-dir', join(folder, name)], {
      stdio: 'ignore',
    })
    children.push(child)
    const url = `http://${listen}`
    await poll(
      async () =>
        fetch(`${url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      { what: `${name} to sample`, everyMs: 200 },
    )
    return { url, child }
  }
  const mute = createServer(() => {}).listen(0, '127.0.0.1')
  await once(mute, 'listening')
  const bound = mute.address()
  try {
    const agents: { readonly name: string; readonly url: string; readonly child: ChildProcess }[] = []
    // One after the other: twenty starts at once measure the machine.
    for (let i = 0; i < AGENTS; i++) agents.push({ name: `gpu-${i}`, ...(await start(`gpu-${i}`, '')) })
    const hosts = [
      ...agents.map(({ name, url }) => ({ name, url })),
      { name: 'mute', url: `http://127.0.0.1:${bound !== null && typeof bound === 'object' ? bound.port : 0}` },
    ]
    const page = await start('page', `hosts: ${JSON.stringify(hosts)}\n`)
    const look = async () => entries.parse(await (await fetch(`${page.url}/api/v1/hosts`)).json())
    await poll(async () => (await look()).filter(({ summary }) => summary !== undefined).length === AGENTS + 1, { what: 'a row of each agent', everyMs: 500 })
    const share = async (looks: boolean): Promise<number> => {
      const [before, began] = [cpuSeconds(page.child.pid ?? 0), performance.now()]
      while (performance.now() - began < MEASURE_S * 1_000) {
        if (looks) await look()
        await sleep(1_000)
      }
      return (cpuSeconds(page.child.pid ?? 0) - before) / ((performance.now() - began) / 1_000)
    }
    const seen = await share(true)
    const rows = await look()
    const [victim] = agents
    const killed = performance.now()
    victim?.child.kill('SIGKILL')
    await poll(async () => (await look()).find(({ name }) => name === victim?.name)?.problem !== undefined, { what: 'the dead agent to be told', everyMs: 100 })
    const told = performance.now() - killed
    // What it does without readers: its own work, until nobody has looked for half a minute.
    await sleep(35_000)
    const alone = await share(false)
    const own = Math.max(0, seen - alone)
    printTable([
      {
        what: `rows of ${AGENTS} agents beside one that never answers`,
        figure: String(rows.filter(({ problem, self }) => problem === undefined && self !== true).length),
        limit: String(AGENTS),
        ok: rows.filter(({ problem, self }) => problem === undefined && self !== true).length === AGENTS,
      },
      { what: 'a killed agent is told after', figure: `${told.toFixed(0)} ms`, limit: `${LIMIT_TOLD_MS} ms`, ok: told <= LIMIT_TOLD_MS },
      {
        what: `CPU of the page's host for it, of a core, over ${MEASURE_S} s`,
        figure: `${(own * 100).toFixed(2)} %`,
        limit: `${LIMIT_CPU * 100} %`,
        ok: own <= LIMIT_CPU,
      },
      { what: '  looked at · alone', figure: `${(seen * 100).toFixed(2)} · ${(alone * 100).toFixed(2)} %` },
    ])
  } finally {
    mute.closeAllConnections()
    mute.close()
    for (const child of children) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) await run()
