// A GPU whose every figure has all bits set, names with line breaks and quotes, and a number of GPUs that changes: nothing wrong is shown, the page stays valid.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiler } from '../../fakes/nvml/build.ts'
import { eightH100, fakeUuid, withGpu } from '../../fakes/nvml/scenario.ts'
import { readPage, startAgent } from '../../setup/agent.ts'
import { poll } from '../../setup/poll.ts'
import { sampled } from '../parts/watch.ts'
import type { AbuseCase } from '../abuse-case.ts'

/** No figure of a GPU of the scene comes near; what all bits set become in any unit does. */
const ABSURD = 2 ** 32 / 1_000
/** Bytes, Hertz and counters of bytes may be large; all bits set of 64 are larger still. */
const LARGE = 2 ** 48
const HOSTILE = 'a"\n} 1\\{x="'
const PROMTOOL = '/usr/bin/promtool'

export const nvmlNonsense: AbuseCase = {
  id: 'nvml-nonsense',
  area: 'nvml',
  fault: 'a GPU that answers all ones, GPU and process names with quotes and line breaks, 8 GPUs that become 5 and 8 again',
  promised: 'no such figure is shown, /metrics stays valid, every GPU that is there is sampled',
  unavailable: () => (compiler === undefined ? 'needs a C compiler' : undefined),
  hasShortForm: true,
  besideOthers: true,
  async run({ short }) {
    const folder = mkdtempSync(join(tmpdir(), 'warpwatch-abuse-'))
    // A process whose name is as hostile as a name can be: the kernel takes the file's, the command line is 10 kB.
    const program = join(folder, HOSTILE)
    symlinkSync('/bin/sleep', program)
    const child = spawn(program, ['600'], { argv0: HOSTILE.repeat(1_000), stdio: 'ignore' })
    const healthy = eightH100()
    const scene = withGpu(healthy, 1, { name: `H100 ${HOSTILE.repeat(6)}` }, { processes: [{ pid: child.pid ?? 0, bytes: 2 ** 30 }] })
    const agent = await startAgent({ scenario: scene })
    try {
      await sampled(agent, [0, 1, 2, 3, 4, 5, 6, 7])
      const wrong: string[] = []
      let pages = 0
      const look = async (): Promise<ReturnType<typeof readPage>> => {
        const { text } = await agent.get('/metrics')
        pages++
        // Its exit code 3 is about names, which are dcgm-exporter's; 1 is a page that it cannot read.
        if (existsSync(PROMTOOL) && pages % 20 === 1 && spawnSync(PROMTOOL, ['check', 'metrics'], { input: text }).status === 1)
          wrong.push('a page that promtool cannot read')
        const page = readPage(text)
        for (const { name, labels, value } of page.samples) {
          if (labels['uuid'] !== fakeUuid(2) && labels['UUID'] !== fakeUuid(2)) continue
          const most = /bytes|hertz|joules|ENERGY|VIOLATION|timestamp|_total$/.test(name) ? LARGE : ABSURD
          if (!(Math.abs(value) < most)) wrong.push(`${name} ${value}`)
        }
        return page
      }
      const named = (await look()).samples.find(({ name, labels }) => name === 'warpwatch_process_gpu_memory_bytes' && labels['pid'] === String(child.pid))
      agent.tell(withGpu(scene, 2, { ones: 1 }))
      await poll(async () => (await look()).value('warpwatch_gpu_power_watts', { gpu: '2' }) === undefined, { what: 'GPU 2 to lose its readings' })
      for (let n = 0; n < (short ? 5 : 100); n++) await look()
      const others = (await look()).samples.filter(({ name, value }) => name === 'warpwatch_gpu_power_watts' && value > 0).length
      agent.tell(scene)
      await sampled(agent, [2])
      let turns = 0
      // A new number of GPUs is seen when the child looks again, each 30 s; the long form waits for it.
      for (const count of short ? [] : [5, 8, 5, 8]) {
        agent.tell({ ...scene, gpus: scene.gpus.slice(0, count) })
        await poll(async () => (await look()).samples.filter(({ name }) => name === 'warpwatch_gpu_power_watts').length === count, {
          what: () => `${count} GPUs; the agent said: ${agent.stderr().slice(-1_000)}`,
          deadlineMs: 90_000,
          everyMs: 200,
        })
        turns++
      }
      const process = named?.labels['process'] ?? ''
      return {
        held: wrong.length === 0 && others === 7 && process.includes('"\n}'),
        observed: [
          `${pages} valid pages, ${wrong.length} absurd figures, ${others} of 7 other GPUs read meanwhile, process shown as ${JSON.stringify(process)}, ${turns} changes of the number of GPUs followed`,
          ...wrong.slice(0, 5),
        ].join('; '),
      }
    } finally {
      child.kill('SIGKILL')
      await agent[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
