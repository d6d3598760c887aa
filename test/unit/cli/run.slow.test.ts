// `warpwatch run` as a process: its first lines, its port, its end by signals, and the recording that it leaves.
import { createServer } from 'node:net'
import { mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { SHORT_PAST } from '../../setup/agent.ts'
import { poll } from '../../setup/poll.ts'
import { runCli, startCli, type Running } from './run-cli.ts'

const running: Running[] = []
afterEach(() => {
  for (const { child } of running.splice(0)) child.kill('SIGKILL')
})
const folder = (): string => mkdtempSync(join(tmpdir(), 'warpwatch-run-'))

const simulated = (args: readonly string[]): readonly string[] => ['run', '--simulate', '--listen', '127.0.0.1:0', '--data-dir', folder(), ...args]

function simulate(args: readonly string[] = [], env: Readonly<Record<string, string>> = SHORT_PAST): Running {
  const started = startCli(simulated(args), { env })
  running.push(started)
  return started
}
const lineOf = async (process: Running, word: string): Promise<string> => {
  const line = await poll(() => new RegExp(`^${word} +(\\S.*)$`, 'm').exec(process.stderr())?.[1], {
    what: () => `a line about ${word} in: ${process.stderr()}`,
  })
  return line
}

describe('run --simulate', () => {
  test('says what it watches and where to look, serves it, ends gracefully on SIGTERM', async () => {
    const agent = simulate()
    const url = await lineOf(agent, 'Metrics')
    expect(await lineOf(agent, 'GPUs')).toBe('8 × NVIDIA H100 80GB HBM3')
    // The line about the GPUs comes with what names them; their figures may come a moment later.
    const used = 'warpwatch_gpu_memory_used_bytes{gpu="0",uuid="GPU-'
    let page = ''
    await poll(async () => (page = await (await fetch(url)).text()).includes(used), { what: () => `${used} in: ${page}` })
    agent.child.kill('SIGTERM')
    const { code, stdout, stderr } = await agent.ended
    expect([code, stdout]).toEqual([0, ''])
    expect(stderr).toContain('SIGTERM: stopping')
  })

  test('--record leaves a recording that replay reads, with the past that it began with', async () => {
    const file = join(folder(), 'r.jsonl')
    const agent = simulate(['--record', file], {})
    await lineOf(agent, 'GPUs')
    agent.child.kill('SIGINT')
    expect((await agent.ended).code).toBe(0)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const { code, stdout, stderr } = await runCli(['replay', file])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^Span +(?:1[5-9]|[2-9]\d) min/m)
    expect(stdout).toMatch(/^GPUs +8$/m)
  })

  test('a port in use is told in one line', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const address = taken.address()
    if (address === null || typeof address === 'string') throw new Error('expected a TCP address')
    const { code, stdout, stderr } = await runCli(['--simulate', '--listen', `127.0.0.1:${address.port}`, '--data-dir', folder()], { env: SHORT_PAST })
    taken.close()
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(/^warpwatch: cannot start: .*$/m)
    expect(stderr).toContain(String(address.port))
    expect(stderr).not.toContain('    at ')
  })

  test('a recording that cannot be written is told at the start', async () => {
    const { code, stderr } = await runCli(simulated(['--record', '/nowhere/r.jsonl']), { env: SHORT_PAST })
    expect(code).toBe(1)
    expect(stderr).toContain('/nowhere/r.jsonl')
    expect(stderr).not.toContain('    at ')
  })
})
