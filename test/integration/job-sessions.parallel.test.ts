// Jobs on a bare host, without any engine: a session that holds a fake GPU, found by who started it, and its end.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { describe, expect, onTestFinished, test } from 'vitest'
import { run as runSchema } from '../../agent/http/api/job-schemas.ts'
import { compiler } from '../fakes/nvml/build.ts'
import { h100, hostOf } from '../fakes/nvml/scenario.ts'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'

const GIB = 2 ** 30
const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}
/** The kernel says nothing of crashes, or we may not read what it says. */
const isSilent = read('/proc/sys/debug/exception-trace') !== '1' || (process.getuid?.() !== 0 && read('/proc/sys/kernel/dmesg_restrict') !== '0')
const jobsSchema = z.array(z.looseObject({ job: z.string(), kind: z.string(), runs: z.number(), last: runSchema }))

/** A script of its own session whose second process does the work; its pid comes on stdout. */
async function session(script: string): Promise<{ readonly child: ChildProcess; readonly worker: number }> {
  const child = spawn('sh', ['-c', `exec 3<&0; sh -c 'echo $$; ${script}' worker & wait $!; exit $?`], { stdio: ['pipe', 'pipe', 'ignore'], detached: true })
  onTestFinished(() => void (child.exitCode === null && child.signalCode === null && child.pid !== undefined && process.kill(-child.pid, 'SIGKILL')))
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
  await poll(() => text.includes('\n'), { what: 'the pid of the worker' })
  return { child, worker: Number(text) }
}
const held = (pid: number) => ({ ...hostOf(1), gpus: [h100(0, {}, [{ pid, bytes: 4 * GIB }])] })
const sessions = async (agent: RunningAgent) => jobsSchema.parse(await agent.json('/api/v1/jobs')).filter(({ kind }) => kind === 'session')

/** Printed, not judged: a busy machine takes longer than the 2 seconds that are wanted. */
const tellTime = (what: string, since: number): void => console.log(`${what}: told after ${Date.now() - since} ms`)

describe.skipIf(compiler === undefined)(`jobs on a bare host${compiler === undefined ? ' (needs a C compiler)' : ''}`, () => {
  test('a session that holds a GPU is a job of its user, by its command; after a crash of the agent it goes on, and its end is seen', async () => {
    const { child, worker } = await session('while true; do sleep 0.05; done')
    let agent = await startAgent({ scenario: held(worker) })
    const { dataDir } = agent
    const seen = await poll(async () => (await sessions(agent)).find(({ last }) => last.gpus.some(({ held_seconds: s }) => s >= 1)), { what: 'its GPU time' })
    expect(seen).toMatchObject({
      runs: 1,
      last: { pid: child.pid, run: 1, user: expect.any(String), gpu_memory_peak_bytes: 4 * GIB, gpus: [{ gpu: '0', share: 1 }] },
    })
    await agent.kill()

    agent = await startAgent({ scenario: held(worker), dataDir })
    await using _ = agent
    const before = seen.last.gpus[0]?.held_seconds ?? 0
    const after = await poll(async () => (await sessions(agent)).find(({ last }) => (last.gpus[0]?.held_seconds ?? 0) > before), { what: 'more GPU time' })
    expect(after).toMatchObject({ runs: 1, last: { run: 1, started_at: seen.last.started_at } })

    process.kill(worker, 'SIGSEGV')
    agent.tell(hostOf(1))
    const ended = Date.now()
    const { last } = await poll(async () => (await sessions(agent)).find(({ last: one }) => one.outcome !== undefined), { what: 'its end' })
    tellTime('its end, without the signal', ended)
    // Nobody on a bare host says how a process ended.
    expect(last).toMatchObject({ run: 1, outcome: 'unknown', reason: 'Ended; its exit code is unknown' })
    expect(last.exit_code).toBeUndefined()
    expect((last.ended_at ?? 0) - ended).toBeLessThan(60_000)
  })

  test.skipIf(isSilent)(`a segfault that the kernel writes down is told by its signal${isSilent ? ' (this kernel logs no segfaults)' : ''}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'warpwatch-segfault-'))
    const [source, program] = [join(folder, 'crash.c'), join(folder, 'crash')]
    // A line on stdin, and it reads where nothing is.
    writeFileSync(source, '#include <stdio.h>\nint main(void) { char line[8]; if (fgets(line, sizeof line, stdin)) return *(volatile int *)8; return 1; }\n')
    execFileSync(compiler ?? 'cc', ['-o', program, source])
    const { child, worker } = await session(`exec ${program} <&3`)
    await using agent = await startAgent({ scenario: held(worker), env: { WARPWATCH_LOGS__KERNEL: 'true' } })
    await poll(async () => (await sessions(agent)).some(({ last }) => last.gpus.some(({ held_seconds: s }) => s >= 1)), { what: 'its GPU time' })
    child.stdin?.write('go\n')
    await once(child, 'exit')
    const crashed = Date.now()
    agent.tell(hostOf(1))
    const { last } = await poll(async () => (await sessions(agent)).find(({ last: one }) => one.outcome === 'failed'), { what: 'its end' })
    tellTime('SIGSEGV by the kernel log', crashed)
    expect(last).toMatchObject({ run: 1, signal: 'SIGSEGV', reason: 'Crashed with SIGSEGV' })
    // The look for ended processes is once a second; a busy machine may need longer.
    expect((last.ended_at ?? 0) - crashed).toBeLessThan(60_000)
  })

  test('a segfault under exec is told by its signal, with the GPU that it held', async () => {
    await using agent = await startAgent({ scenario: hostOf(1) })
    const main = join(import.meta.dirname, '../../dist/main.js')
    const script = 'ulimit -c 0; echo $$; read -r _; kill -SEGV $$'
    const child = spawn(process.execPath, [main, 'exec', '--listen', new URL(agent.url).host, '--name', 'own crash', '--', 'sh', '-c', script], {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
    })
    onTestFinished(() => void (child.exitCode === null && child.signalCode === null && child.pid !== undefined && process.kill(-child.pid, 'SIGKILL')))
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part))
    await poll(() => text.includes('\n'), { what: 'the pid of the command' })
    agent.tell(held(Number(text)))
    const own = async () => jobsSchema.parse(await agent.json('/api/v1/jobs')).find(({ job }) => job === 'own crash')
    await poll(async () => (await own())?.last.gpus.some(({ held_seconds: s }) => s >= 1) === true, { what: 'its GPU time' })
    child.stdin.write('go\n')
    const crashed = Date.now()
    await once(child, 'exit')
    agent.tell(hostOf(1))
    const ended = await poll(
      async () => {
        const seen = await own()
        return seen?.last.outcome === undefined ? undefined : seen
      },
      { what: 'its end' },
    )
    tellTime('SIGSEGV by exec', crashed)
    expect(ended).toMatchObject({ kind: 'exec', last: { outcome: 'failed', signal: 'SIGSEGV', gpus: [{ gpu: '0' }] } })
  })
})
