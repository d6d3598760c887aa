// A host over SSH, with the system's ssh and a real sshd on loopback: its row, its page and its stream come through the tunnel, a refused key is told in ssh's
// own words, and a connection that is lost stands again.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { WebSocket } from 'ws'
import { startAgent, type RunningAgent } from '../setup/agent.ts'
import { programPath } from '../setup/engine-client.ts'
import { freePort } from '../setup/free-port.ts'
import { poll } from '../setup/poll.ts'

const [SSH, KEYGEN] = [programPath('ssh'), programPath('ssh-keygen')]
// It starts itself again for each connection, by its whole path.
const SSHD = programPath('sshd') ?? (existsSync('/usr/sbin/sshd') ? '/usr/sbin/sshd' : undefined)
const missing =
  SSH === undefined || KEYGEN === undefined
    ? 'needs ssh'
    : SSHD === undefined
      ? 'needs sshd (Debian: openssh-server)'
      : process.getuid?.() === 0
        ? undefined
        : 'needs root, to let another user in'
const TOKEN = 'far-secret-1'

type Sshd = { readonly folder: string; readonly port: number; readonly start: () => Promise<void>; readonly stop: () => Promise<void> }
/** Has no shell, and needs none: only a port is forwarded. */
const USER = 'nobody'
/** Its user and its folder are there for it alone, in mounts that nobody else sees. */
const ALONE = 'mount --bind "$1/passwd" /etc/passwd && mount -t tmpfs none /run && mkdir -m 755 /run/sshd && exec "$2" -D -e -f "$1/sshd_config"'

function familyOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .split(' ')
    .filter((child) => child !== '')
  return [pid, ...children.flatMap((child) => familyOf(Number(child)))]
}

/** An sshd of this test's own, with keys and settings in its folder. */
async function makeSshd(): Promise<Sshd> {
  const folder = mkdtempSync(join(tmpdir(), 'sshd-'))
  // The user who comes in reads the keys that are let in.
  chmodSync(folder, 0o755)
  const port = await freePort()
  for (const name of ['host', 'login', 'stranger']) execFileSync(KEYGEN ?? '', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, name)])
  copyFileSync(join(folder, 'login.pub'), join(folder, 'authorized'))
  const passwd = readFileSync('/etc/passwd', 'utf8')
  writeFileSync(join(folder, 'passwd'), /^sshd:/m.test(passwd) ? passwd : `${passwd}sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n`)
  const settings = {
    Port: port,
    ListenAddress: '127.0.0.1',
    HostKey: join(folder, 'host'),
    AuthorizedKeysFile: join(folder, 'authorized'),
    PidFile: 'none',
    StrictModes: 'no',
    UsePAM: 'no',
    AuthenticationMethods: 'publickey',
  }
  writeFileSync(
    join(folder, 'sshd_config'),
    Object.entries(settings)
      .map((setting) => `${setting.join(' ')}\n`)
      .join(''),
  )
  let child: ChildProcess | undefined
  return {
    folder,
    port,
    async start() {
      const made = spawn('unshare', ['--mount', 'sh', '-c', ALONE, 'sh', folder, SSHD ?? ''], { stdio: ['ignore', 'ignore', 'pipe'] })
      child = made
      let said = ''
      made.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
      await poll(
        () => {
          if (made.exitCode !== null) throw new Error(`sshd ended: ${said}`)
          return said.includes('Server listening')
        },
        { what: () => `sshd to listen, which says: ${said}` },
      )
    },
    async stop() {
      if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      // With those that serve a connection, which have sessions of their own.
      for (const pid of familyOf(child.pid)) process.kill(pid, 'SIGKILL')
      await ended
    },
  }
}
/** The system's ssh, told where this test's keys are: it reads its settings from the home in /etc/passwd, which is not this test's. */
function sshWith({ folder, port }: Sshd, key: string): string {
  const bin = join(folder, `bin-${key}`)
  mkdirSync(bin)
  const config = join(folder, `ssh-${key}`)
  writeFileSync(
    config,
    `Host *\n  Port ${port}\n  IdentityFile ${join(folder, key)}\n  IdentitiesOnly yes\n  UserKnownHostsFile ${join(folder, 'known')}\n  StrictHostKeyChecking accept-new\n`,
  )
  writeFileSync(join(bin, 'ssh'), `#!/bin/sh\nexec ${SSH} -F ${config} "$@"\n`, { mode: 0o755 })
  return `${bin}:${process.env['PATH'] ?? ''}`
}
const rows = z.array(
  z.looseObject({ name: z.string(), problem: z.string().optional(), summary: z.looseObject({ host: z.string(), gpus: z.number() }).optional() }),
)
const farOf = async (agent: RunningAgent) => rows.parse(await agent.json('/api/v1/hosts')).find(({ name }) => name === 'far')

describe.skipIf(missing !== undefined)(`a host over ssh${missing === undefined ? '' : ` (${missing})`}`, () => {
  test('its row, its page and its stream; a lost connection stands again; the token stays here', async () => {
    const sshd = await makeSshd()
    await sshd.start()
    try {
      await using far = await startAgent({ args: ['--simulate'], env: { WARPWATCH_HTTP__TOKEN: TOKEN, WARPWATCH_HOST_NAME: 'gpu-77' } })
      const url = `ssh://${USER}@127.0.0.1?agent=${new URL(far.url).port}`
      const config = `hosts: ${JSON.stringify([{ name: 'far', url, token: TOKEN }])}\n`
      await using agent = await startAgent({ args: ['--simulate'], config, env: { PATH: sshWith(sshd, 'login') }, ready: true })
      let last = 'nothing'
      const look = async () => {
        const found = await farOf(agent)
        last = found?.problem ?? 'nothing'
        return found?.summary
      }
      const seen = await poll(look, { what: () => `the row of the far host, of which ${last} is said` })
      expect(seen).toMatchObject({ host: 'gpu-77', gpus: 8 })
      const host = await fetch(`${agent.url}/hosts/far/api/v1/host`)
      expect([host.status, await host.json()]).toMatchObject([200, { hostname: 'gpu-77' }])
      const stream = new WebSocket(`${agent.url.replace('http', 'ws')}/hosts/far/ws`)
      const [hello] = z
        .tuple([z.instanceof(Buffer)])
        .rest(z.unknown())
        .parse(await once(stream, 'message'))
      expect(JSON.parse(hello.toString())).toMatchObject({ type: 'hello', host: 'gpu-77' })
      stream.terminate()
      expect(JSON.stringify(await agent.json('/api/v1/hosts'))).not.toContain(TOKEN)

      await sshd.stop()
      expect(await poll(async () => (await farOf(agent))?.problem, { what: 'the lost connection to be told' })).toMatch(/ssh|socket|closed|refused|no agent/i)
      await sshd.start()
      await poll(async () => (await farOf(agent))?.problem === undefined, { what: 'the connection to stand again' })
    } finally {
      await sshd.stop()
    }
  })

  test('a key that is not let in is told in the words of ssh', async () => {
    const sshd = await makeSshd()
    await sshd.start()
    try {
      const config = `hosts: [{ name: far, url: "ssh://${USER}@127.0.0.1" }]\n`
      await using agent = await startAgent({ args: ['--simulate'], config, env: { PATH: sshWith(sshd, 'stranger') }, ready: true })
      expect(await poll(async () => (await farOf(agent))?.problem, { what: 'the refusal' })).toMatch(/^ssh: .*Permission denied \(publickey\)/)
    } finally {
      await sshd.stop()
    }
  })
})
