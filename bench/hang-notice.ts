// How long a job that stops goes unnoticed with the agent's own defaults: real Python processes that make a step each second and then wait for a lock
// that no one releases. TORCH_PYTHON=PATH adds one that computes with torch. Root only: other processes' stacks are read.
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
const STEPS = 20
const STOP_LINE = 'lock.acquire()  # stops here'

/** `torch`: each step multiplies two matrices and goes back through them. */
const program = (torch: boolean): string => `import sys, threading, time
${torch ? 'import torch\nweight = torch.randn(256, 256, requires_grad=True)' : ''}
lock = threading.Lock()
for step in range(1, ${STEPS + 1}):
    ${torch ? '(torch.randn(256, 256) @ weight).square().mean().backward()' : 'sum(range(10_000))'}
    print("step %d/100000 loss=%.4f" % (step, 1 / step), flush=True)
    last = time.time()
    time.sleep(1)
lock.acquire()
with open(sys.argv[1], "w") as out:
    out.write("%.3f" % last)
${STOP_LINE}
`

const listed = z.array(z.looseObject({ id: z.string(), kind: z.string() }))
const whole = z.looseObject({ facts: z.looseObject({ job: z.string(), stands_at: z.optional(z.array(z.string())) }) })

type Stopped = { readonly name: string; readonly log: string; readonly script: string; readonly lastStep: string; readonly child: ChildProcess }

function start(folder: string, name: string, python: string, torch: boolean): Stopped {
  const [log, script, lastStep] = [join(folder, `${name}.log`), join(folder, `${name}.py`), join(folder, `${name}.last`)]
  writeFileSync(script, program(torch))
  const output = openSync(log, 'a')
  const child = spawn(python, [script, lastStep], { stdio: ['pipe', output, output] })
  closeSync(output)
  return { name, log, script, lastStep, child }
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
  const jobs = [
    start(folder, `python-${python.version}`, python.path, false),
    ...(withTorch === undefined ? [] : [start(folder, 'with-torch', withTorch, true)]),
  ]
  try {
    const rows = await Promise.all(
      jobs.map(async ({ name, log, script, lastStep, child }) => {
        const stopped = (): boolean => {
          if (child.exitCode !== null) throw new Error(`hang-notice: ${name} ended: ${readFileSync(log, 'utf8').slice(-500)}`)
          return existsSync(lastStep) && readFileSync(lastStep).length > 0
        }
        await poll(stopped, { what: `${name} to stop`, everyMs: 200, deadlineMs: 240_000 })
        const place = await poll(() => placeOf(agent, log), { what: `an incident of ${name}`, everyMs: 200 })
        const seconds = Date.now() / 1000 - Number(readFileSync(lastStep, 'utf8'))
        const line =
          program(name === 'with-torch')
            .split('\n')
            .indexOf(STOP_LINE) + 1
        const alive = child.exitCode === null && child.signalCode === null
        const right = place.includes(`${script}:${line} `) && alive
        const stands = right ? ', place right, process alive' : `, stands at "${place}"`
        return {
          what: `${name}: last step to incident`,
          figure: `${seconds.toFixed(1)} s${stands}`,
          limit: `${LIMIT_SECONDS} s`,
          ok: seconds <= LIMIT_SECONDS && right,
        }
      }),
    )
    printTable(rows)
  } finally {
    for (const { child } of jobs) child.kill('SIGKILL')
    await agent.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) await run()
