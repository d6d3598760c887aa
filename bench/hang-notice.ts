// How soon the agent says that a job hangs, and where: the built agent with its defaults, and Python processes that make a step each second and then wait for
// a lock that no one releases, once their rhythm is known and in their first steps, alone and as a rank for which another waits. TORCH_PYTHON=PATH adds
// one that computes with torch. Root only: other processes' stacks are read.
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { startAgent, type RunningAgent } from '../test/setup/agent.ts'
import { poll } from '../test/setup/poll.ts'
import { findPythons } from '../test/setup/pythons.ts'
import { printTable } from './lib/table.ts'

const LIMIT_SECONDS = 60
const DEADLINE_MS = 150_000
const STOP_LINE = 'lock.acquire()  # stops here'

type Scene = { readonly name: string; readonly python: string; readonly steps: number; readonly ranks: number; readonly torch?: boolean }

/** With torch each step multiplies two matrices and goes back through them. What the file of a frame is called is all that says that a rank waits for the others. */
const program = ({ steps, torch }: Scene): string => `import os, sys, threading, time
${torch === true ? 'import torch\nweight = torch.randn(256, 256, requires_grad=True)' : ''}
lock = threading.Lock()
library = {}
exec(compile("def all_reduce(lock):\\n    lock.acquire()", "/usr/lib/python3/site-packages/torch/distributed/distributed_c10d.py", "exec"), library)
for step in range(1, ${steps + 1}):
    ${torch === true ? '(torch.randn(256, 256) @ weight).square().mean().backward()' : 'sum(range(10_000))'}
    if os.environ.get("RANK", "0") == "0":
        print("step %d/100000 loss=%.4f" % (step, 1 / step), flush=True)
    last = time.time()
    time.sleep(1)
lock.acquire()
if os.environ.get("RANK") == "0":
    library["all_reduce"](lock)
with open(sys.argv[1], "w") as out:
    out.write("%.3f" % last)
${STOP_LINE}
`

const listed = z.array(z.looseObject({ id: z.string(), kind: z.string() }))
const whole = z.looseObject({ facts: z.looseObject({ job: z.string(), stands_at: z.optional(z.array(z.string())) }) })

type Stopped = { readonly scene: Scene; readonly log: string; readonly script: string; readonly lastStep: string; readonly children: readonly ChildProcess[] }

function start(folder: string, scene: Scene): Stopped {
  const file = (ending: string): string => join(folder, `${scene.name.replaceAll(/\W+/g, '-')}.${ending}`)
  const [log, script, lastStep] = [file('log'), file('py'), file('last')]
  writeFileSync(script, program(scene))
  const children = Array.from({ length: scene.ranks }, (_, rank) => {
    const output = openSync(log, 'a')
    const [at, of] = [String(rank), String(scene.ranks)]
    const ranks = scene.ranks === 1 ? {} : { RANK: at, LOCAL_RANK: at, WORLD_SIZE: of, LOCAL_WORLD_SIZE: of }
    const child = spawn(scene.python, [script, lastStep], { stdio: ['pipe', output, output], env: { ...process.env, ...ranks } })
    closeSync(output)
    return child
  })
  return { scene, log, script, lastStep, children }
}

async function placeOf(agent: RunningAgent, log: string): Promise<string | undefined> {
  const ids = listed.parse(await agent.json('/api/v1/incidents?limit=200')).flatMap(({ id, kind }) => (kind === 'job_hang' ? [id] : []))
  const found = await Promise.all(ids.map(async (id) => whole.parse(await agent.json(`/api/v1/incidents/${id}`))))
  const mine = found.find(({ facts }) => facts.job === log)
  return mine === undefined ? undefined : (mine.facts.stands_at ?? []).join(', ')
}

export async function run(): Promise<void> {
  const python = findPythons().at(-1)
  if (process.getuid?.() !== 0 || python === undefined) {
    process.stdout.write('needs root, to read the stacks of other processes, and Python 3: not run\n')
    return
  }
  const folder = mkdtempSync(join(tmpdir(), 'hang-notice-'))
  const agent = await startAgent({ config: `logs: { files: ['${folder}/*.log'], containers: false, kernel: false }\n` })
  const withTorch = process.env['TORCH_PYTHON']
  const path = python.path
  const jobs = [
    { name: `python ${python.version}`, python: path, steps: 20, ranks: 1 },
    { name: 'after 4 steps, alone', python: path, steps: 4, ranks: 1 },
    { name: 'after 3 steps, alone', python: path, steps: 3, ranks: 1 },
    { name: 'after 2 steps, alone', python: path, steps: 2, ranks: 1 },
    { name: 'after 3 steps, 1 of 2 ranks', python: path, steps: 3, ranks: 2 },
    { name: 'after 2 steps, 1 of 2 ranks', python: path, steps: 2, ranks: 2 },
    ...(withTorch === undefined ? [] : [{ name: 'with torch', python: withTorch, steps: 20, ranks: 1, torch: true }]),
  ].map((scene) => start(folder, scene))
  try {
    const rows = await Promise.all(
      jobs.map(async ({ scene, log, script, lastStep, children }) => {
        const alive = (): boolean => children.every(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
        const stopped = (): boolean => {
          if (!alive()) throw new Error(`hang-notice: ${scene.name} ended: ${readFileSync(log, 'utf8').slice(-500)}`)
          return existsSync(lastStep) && readFileSync(lastStep).length > 0
        }
        await poll(stopped, { what: `${scene.name} to stop`, everyMs: 200, deadlineMs: 240_000 })
        const place = await poll(() => placeOf(agent, log), { what: `an incident of ${scene.name}`, everyMs: 200, deadlineMs: DEADLINE_MS }).catch(
          () => undefined,
        )
        if (place === undefined)
          return { what: `${scene.name}: last step to incident`, figure: `none in ${DEADLINE_MS / 1000} s`, limit: `${LIMIT_SECONDS} s`, ok: false }
        const seconds = Date.now() / 1000 - Number(readFileSync(lastStep, 'utf8'))
        const line = program(scene).split('\n').indexOf(STOP_LINE) + 1
        const right = place.includes(`${script}:${line} `) && alive()
        return {
          what: `${scene.name}: last step to incident`,
          figure: `${seconds.toFixed(1)} s${right ? ', place right, process alive' : `, stands at "${place}"`}`,
          limit: `${LIMIT_SECONDS} s`,
          ok: seconds <= LIMIT_SECONDS && right,
        }
      }),
    )
    printTable(rows)
  } finally {
    for (const { children } of jobs) for (const child of children) child.kill('SIGKILL')
    await agent.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) await run()
