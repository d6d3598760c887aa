// What eight inference servers cost, each with a page as long as vLLM's, asked every five seconds: CPU of one core, and memory.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createInferenceServersSource } from '../agent/sources/inference-servers.ts'
import { makeProc, OWN, type MadeProcess } from '../test/unit/inference-servers/proc.ts'
import { printTable } from './lib/table.ts'

const SERVERS = 8
const EVERY_MS = 5_000
const [WARM_UP, ROUNDS] = [60, 240]
const MAX_RATIO = 0.003
const MAX_BYTES = 10 * 2 ** 20

setFlagsFromString('--expose-gc')
const collect: unknown = runInNewContext('gc')
function heldBytes(): number {
  // Buffers are given back by the collection after the one that found them unused.
  for (let times = 0; times < 2; times++) if (typeof collect === 'function') collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

export async function run(): Promise<void> {
  const child = fork(new URL('lib/inference-stand-ins.ts', import.meta.url), [String(SERVERS)])
  const [ports]: unknown[] = await once(child, 'message')
  if (!Array.isArray(ports)) throw new Error('expected the ports of the stand-ins')
  const processes = ports.flatMap((port, at): MadeProcess[] => [
    {
      pid: 100 + 10 * at,
      session: 100 + 10 * at,
      argv: ['python3', '/bin/vllm', 'serve', 'm', '--port', String(port)],
      listens: [{ host: 'any', port: Number(port) }],
    },
    { pid: 101 + 10 * at, parent: 100 + 10 * at, session: 100 + 10 * at, comm: 'VLLM::EngineCor', argv: ['VLLM::EngineCore'] },
  ])
  const proc = makeProc(processes)
  const before = heldBytes()
  const tasks: ((t: number) => void | Promise<void>)[] = []
  let readings = 0
  const source = createInferenceServersSource({
    procRoot: proc.root,
    identify: proc.identify,
    holders: () => ports.map((_, at) => ({ pid: 101 + 10 * at, gpu: String(at), bytes: 2 ** 36 })),
    config: { add: {}, forbid: [], keys: {} },
    ownNamespace: OWN,
  })
  const quiet = (): void => {}
  await source.start({
    emit: (event) => void (readings = event.type === 'scrape' ? event.readings.length : 0),
    every(_, task) {
      tasks.push(task)
      return quiet
    },
    log: { info: quiet, warn: quiet, error: quiet },
  })
  let t = 1_800_000_000_000
  const rounds = async (count: number): Promise<number> => {
    const { user, system } = process.cpuUsage()
    for (let round = 0; round < count; round++) {
      t += EVERY_MS
      for (const task of tasks) await task(t)
    }
    const after = process.cpuUsage()
    return (after.user + after.system - user - system) / 1_000 / count
  }
  await rounds(WARM_UP)
  const ms = await rounds(ROUNDS)
  const bytes = heldBytes() - before
  await source.stop()
  child.kill()
  proc.remove()
  const ratio = ms / EVERY_MS
  printTable([
    {
      what: `CPU of ${SERVERS} servers at 5 s`,
      figure: `${(100 * ratio).toFixed(3)} % of a core (${ms.toFixed(2)} ms a round)`,
      limit: '0.3 %',
      ok: ratio <= MAX_RATIO,
    },
    { what: 'memory held for them', figure: `${(bytes / 2 ** 20).toFixed(2)} MiB`, limit: '10 MiB', ok: bytes <= MAX_BYTES },
    { what: 'series', figure: `${readings} (${(readings / SERVERS).toFixed(0)} each)` },
  ])
}
