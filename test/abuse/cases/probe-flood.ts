// Probes that lie and shout at the built agent's socket: floods, other processes' names, garbage, silence; pipes, links and files in the places where sockets are looked for.
import { spawn, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compiler, fakeLibrary } from '../../fakes/nvml/build.ts'
import { h100, hostOf } from '../../fakes/nvml/scenario.ts'
import { startAgent } from '../../setup/agent.ts'
import { poll } from '../../setup/poll.ts'
import { helloOf, sampleOf, statsOf, trueClaim } from '../../unit/allocator/harness.ts'
import { fakeUuid } from '../../fakes/nvml/scenario.ts'
import { missedSeconds, mib, sampled, weigh } from '../parts/watch.ts'
import type { AbuseCase } from '../abuse-case.ts'

const line = (message: object): string => `${JSON.stringify(message)}\n`

export const probeFlood: AbuseCase = {
  id: 'probe-flood',
  area: 'probe',
  fault: 'connections that flood, lie about their pid, say nothing or garbage; pipes, links and files where sockets are looked for',
  promised: 'an honest probe is heard, no spoofed process gets a row, sampling is not late, memory stays bounded',
  unavailable: () => (compiler === undefined || fakeLibrary() === undefined ? 'needs a C compiler' : undefined),
  hasShortForm: true,
  async run({ short }) {
    const folder = mkdtempSync(join(tmpdir(), 'ww-abuse-'))
    const path = join(folder, 'sock', 'probe.sock')
    const living = (): number => spawn('sleep', ['600'], { stdio: 'ignore' }).pid ?? 0
    const [honest, victim, holder] = [living(), living(), living()]
    const made: string[] = []
    // Where the agent looks without a mount: named as a probe of `holder` names its socket.
    const { start_ticks: ticks } = trueClaim(holder)
    const bait = (n: number): string => {
      const name = join('/tmp', `.warpwatch-${holder}-${ticks + n}.sock`)
      made.push(name)
      return name
    }
    execFileSync('mkfifo', [bait(0)])
    symlinkSync(path, bait(1))
    writeFileSync(bait(2), 'x')
    symlinkSync('/proc/self/mem', bait(3))
    const processes = [honest, victim, holder].map((pid) => ({ pid, bytes: 4 * 2 ** 30 }))
    const open = new Set<Socket>()
    try {
      await using agent = await startAgent({
        scenario: { ...hostOf(1), gpus: [h100(0, {}, processes)] },
        env: { WARPWATCH_ALLOCATOR__ENABLED: 'true', WARPWATCH_ALLOCATOR__SOCKET: path },
      })
      await sampled(agent, [0])
      using memory = weigh(agent)
      const begun = Date.now()
      let [connections, sent] = [0, 0]
      const dial = (first: string, again = ''): void => {
        connections++
        const socket = connect(path)
        open.add(socket)
        socket.on('error', () => {})
        socket.on('close', () => open.delete(socket))
        socket.write(first)
        if (again === '') return
        const part = again.repeat(100)
        const flood = (): void => {
          if (socket.destroyed) return
          sent += part.length
          if (socket.write(part)) setTimeout(flood, 1)
          else socket.once('drain', flood)
        }
        flood()
      }
      const device = { devices: [{ i: 0, uuid: fakeUuid(0), total_bytes: 80 * 2 ** 30 }] }
      const sample = line(sampleOf({ 0: statsOf(1, 3, 0) }))
      const storm = (): void => {
        // A flood of a process that is there; of the victim's pid with a wrong start, and of the victim's pid in another namespace.
        for (let n = 0; n < 4; n++) dial(line(helloOf(holder, device)), sample)
        for (let n = 0; n < 20; n++) {
          dial(line(helloOf(victim, { ...device, start_ticks: 1 + n })), sample)
          dial(line(helloOf(victim, { ...device, pidns: 1 + n })), sample)
          dial(line(helloOf(holder, { ...device, pid: 4_000_000 + n, start_ticks: 1 })) + sample)
          dial(`\0\xff{{{"\n`.repeat(50))
          dial('{"type":"hello"')
          dial(`{"__proto__":{"type":"hello"}}\n${'['.repeat(60_000)}`)
        }
        for (let n = 0; n < 200; n++) dial('')
      }
      await poll(() => agent.get('/healthz').then(({ status }) => status === 200), { what: 'the agent' })
      storm()
      const again = setInterval(storm, 5_000)
      // An honest probe, as probes do: it connects again when it is turned away.
      let speaker: Socket | undefined
      const speak = setInterval(() => {
        if (speaker === undefined || speaker.destroyed) {
          speaker = connect(path)
          speaker.on('error', () => {})
          speaker.write(line(helloOf(honest, device)))
        }
        speaker.write(line(sampleOf({ 0: statsOf(1, 2, 0) })))
      }, 500)
      const row = async (pid: number): Promise<number | undefined> =>
        (await agent.metrics()).samples.find(({ name, labels }) => name === 'warpwatch_allocator_reserved_bytes' && labels['pid'] === String(pid))?.value
      const said = 2 * 2 ** 30
      await poll(async () => (await row(honest)) === said, {
        what: () => `the honest probe to be heard; the agent said: ${agent.stderr().slice(-1_500)}`,
        deadlineMs: 60_000,
        everyMs: 100,
      })
      const heardAfter = (Date.now() - begun) / 1_000
      let [looks, heard, spoofed] = [0, 0, 0]
      for (const until = Date.now() + (short ? 500 : 60_000); Date.now() < until; looks++) {
        if ((await row(honest)) === said) heard++
        if ((await row(victim)) !== undefined) spoofed++
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
      clearInterval(again)
      clearInterval(speak)
      const missed = await missedSeconds(agent, 0, begun, Date.now() - 2_000)
      const refusals = (await agent.metrics()).samples.filter(({ name, value }) => name === 'warpwatch_agent_probe_refusals_total' && value > 0)
      const grown = memory.most()
      speaker?.destroy()
      return {
        held: spoofed === 0 && heard >= looks * 0.8 && (short || missed <= 1) && grown < 100 * 1024 ** 2,
        observed: `${connections} connections, ${(sent / 1e6).toFixed(0)} MB of samples pressed; refused: ${refusals.map(({ labels, value }) => `${labels['reason']} ${value}`).join(', ')}; the honest probe heard after ${heardAfter.toFixed(1)} s and in ${heard} of ${looks} looks, ${spoofed} rows of the spoofed; ${missed} seconds not sampled; ${mib(grown)} more memory at most`,
      }
    } finally {
      for (const socket of open) socket.destroy()
      for (const pid of [honest, victim, holder]) process.kill(pid, 'SIGKILL')
      for (const name of made) rmSync(name, { force: true })
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
