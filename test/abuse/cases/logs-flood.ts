// Logs as bad programs write them: 50,000 lines a second, lines of 10 MB, binary, rotated by renaming and by truncating. Each fault written is found.
import { appendFileSync, closeSync, copyFileSync, mkdtempSync, openSync, renameSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { compiler } from '../../fakes/nvml/build.ts'
import { hostOf } from '../../fakes/nvml/scenario.ts'
import { startAgent } from '../../setup/agent.ts'
import { poll } from '../../setup/poll.ts'
import { ordinaryBlock } from '../../soak/log-text.ts'
import { missedSeconds, mib, sampled, weigh } from '../parts/watch.ts'
import type { AbuseCase } from '../abuse-case.ts'

const LINES_PER_SECOND = 50_000
const TICK_MS = 100
/** Each is a fault of its own log, so that each log's incident says whether it was read to its end. */
const FAULT = 'RuntimeError: CUDA error: an illegal memory access was encountered (at batch 7)\n'

export const logsFlood: AbuseCase = {
  id: 'logs-flood',
  area: 'logs',
  fault: `a log of ${LINES_PER_SECOND} lines a second, rotated by renaming; lines of 10 MB; binary; copytruncate; a pipe and /dev/zero under a log's name`,
  promised: 'each fault is found, no line of the flood is lost, sampling is not late, memory stays bounded',
  unavailable: () => (compiler === undefined ? 'needs a C compiler' : undefined),
  hasShortForm: true,
  async run({ short }) {
    const folder = mkdtempSync(join(tmpdir(), 'warpwatch-abuse-logs-'))
    const at = (name: string): string => join(folder, name)
    for (const name of ['flood', 'long', 'binary', 'turned']) writeFileSync(at(`${name}.log`), '')
    execFileSync('mkfifo', [at('pipe.log')])
    execFileSync('ln', ['-s', '/dev/zero', at('zero.log')])
    try {
      await using agent = await startAgent({ scenario: hostOf(1), env: { WARPWATCH_LOGS__FILES: at('*.log') } })
      await sampled(agent, [0])
      using memory = weigh(agent)
      const begun = Date.now()
      const block = ordinaryBlock()
      let [lines, bytes, next, rotations] = [0, 0, 0, 0]
      let flood = openSync(at('flood.log'), 'a')
      const seconds = short ? 1 : 60
      const startedAt = performance.now()
      for (let tick = 0; tick < (seconds * 1_000) / TICK_MS; tick++) {
        // By the clock, so that a busy machine writes as much, if less evenly.
        await delay(Math.max(0, startedAt + tick * TICK_MS - performance.now()))
        const wanted = (LINES_PER_SECOND * TICK_MS) / 1_000
        for (let written = 0; written < wanted;) {
          const last = Math.min(block.ends.length - 1, next + wanted - written - 1)
          const part = block.bytes.subarray(next === 0 ? 0 : block.ends[next - 1], block.ends[last])
          writeSync(flood, part)
          bytes += part.length
          written += last - next + 1
          next = (last + 1) % block.ends.length
        }
        lines += wanted
        if (tick % 150 === 149 || (short && tick === 4)) {
          renameSync(at('flood.log'), at(`flood.${++rotations}`))
          closeSync(flood)
          flood = openSync(at('flood.log'), 'a')
        }
        if (tick % 20 === 9) appendFileSync(at('binary.log'), Buffer.from(Array.from({ length: 200_000 }, (_, n) => (n * 167 + tick) % 256)))
        if (tick % 100 === 5) appendFileSync(at('long.log'), `${'x'.repeat(10_000_000)}\n`)
      }
      writeSync(flood, FAULT)
      closeSync(flood)
      appendFileSync(at('long.log'), `${'y'.repeat(10_000_000)}\n${FAULT}`)
      appendFileSync(at('binary.log'), `\n\0\xff\n${FAULT}`)
      appendFileSync(at('turned.log'), 'before\n'.repeat(1_000))
      copyFileSync(at('turned.log'), at('turned.old'))
      truncateSync(at('turned.log'))
      appendFileSync(at('turned.log'), FAULT)
      const wrote = (Date.now() - begun) / 1_000
      const found = async (): Promise<number> => ((await agent.get('/api/v1/incidents?kind=illegal_memory_access')).text.match(/"id":/g) ?? []).length
      await poll(async () => (await found()) >= 4, {
        what: () => `four incidents; the agent said: ${agent.stderr().slice(-1_500)}`,
        deadlineMs: 180_000,
        everyMs: 250,
      })
      const all = (Date.now() - begun) / 1_000
      const figure = async (name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> =>
        (await agent.metrics()).value(`warpwatch_agent_log_${name}_total`, { stream: 'file', ...labels }) ?? 0
      // The counters are told each ten seconds; the short form does not wait for them.
      if (!short) await poll(async () => (await figure('lines')) >= lines, { what: () => `${lines} lines to be read`, deadlineMs: 60_000, everyMs: 500 })
      const read = await figure('lines')
      const truncated = await figure('skipped', { reason: 'truncated' })
      const missed = await missedSeconds(agent, 0, begun, Date.now() - 2_000)
      const warned = (agent.stderr().match(/is no file but a pipe, a device/g) ?? []).length
      const grown = memory.most()
      return {
        held: (short || (read >= lines && missed <= 1)) && grown < 200 * 1024 ** 2 && warned >= 2,
        observed: `${lines} lines (${(bytes / 1e6).toFixed(0)} MB) in ${wrote.toFixed(0)} s, ${short ? 'counted later' : `${read} read`}, ${rotations} rotations, ${truncated} truncation; faults of 4 of 4 logs found ${(all - wrote).toFixed(1)} s after the last line; ${missed} seconds not sampled; ${memory.text()} (${mib(grown)} more)`,
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
