// Secrets of notifiers stay where they are: no log, page, API answer, report, database or output of a command holds one.
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { notifierRow } from '../../agent/http/api/notifier-schemas.ts'
import { runToEnd, startAgent, type RunningAgent } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'
import { OK, startReceiver, type Receiver } from '../setup/receiver.ts'
import { webServer } from '../setup/web-server.ts'

/** In every secret that can be written into a configuration. */
const MARK = 'sEcReTmArK'
const OOM =
  'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 23.50 GiB of which 1.20 GiB is free. ' +
  'Including non-PyTorch memory, this process has 22.25 GiB memory in use. Of the allocated memory 21.00 GiB is allocated by PyTorch, and 850.00 MiB is reserved by PyTorch but unallocated.'

describe('with every type of notifier, to receivers that take it, refuse it, redirect and are not there', () => {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-secrets-'))
  let receiver: Receiver
  let agent: RunningAgent
  let config = ''

  beforeAll(async () => {
    receiver = await startReceiver()
    receiver.answerWith(({ path, headers }) => {
      if (path.includes('elsewhere')) return { status: 302, headers: { location: `http://127.0.0.2:1/${MARK}` } }
      // What a receiver says of a request may repeat all of it.
      return path.includes('refuse') ? { status: 400, body: `bad request: ${path} ${JSON.stringify(headers)}` } : OK
    })
    const closed = await webServer(() => {})
    await closed.close()
    const at = (path: string): string => `http://user:${MARK}@${new URL(receiver.url).host}/${path}/${MARK}?token=${MARK}`
    writeFileSync(join(directory, 'token'), `${MARK}-file\n`, { mode: 0o600 })
    config = `
logs: { files: ["${directory}/*.log"], kernel: false }
gpu: { source: "off" }
alerts: { base_url: https://gpu-01.example.com, heartbeat_url: "${at('refuse-beat')}", heartbeat_interval: 10s }
notifiers:
  - { name: slack-hook, type: slack, url: "${at('slack')}", compatible: true }
  - { name: hook, type: webhook, url: "${at('hook')}", secret: ${MARK}, headers: { X-Key: ${MARK} } }
  - { name: hook-env, type: webhook, url: { env: HOOK_URL }, secret: { file: "${directory}/token" } }
  - { name: refused, type: webhook, url: "${at('refuse')}", headers: { X-Key: ${MARK} } }
  - { name: moved, type: webhook, url: "${at('elsewhere')}" }
  - { name: gone, type: webhook, url: "${closed.url}/${MARK}" }
  - { name: am, type: alertmanager, url: "${receiver.url}/${MARK}", username: me, password: ${MARK}, heartbeat: true }
  - { name: am-token, type: alertmanager, url: "${receiver.url}/refuse/${MARK}", token: ${MARK} }
  - { name: own, type: template, url: "${at('template')}", headers: { Authorization: "Bearer ${MARK}" }, body: '{"text": "{{ headline }}"}' }
`
    agent = await startAgent({ config, env: { HOOK_URL: at('env') } })
  })
  afterAll(async () => {
    await agent?.[Symbol.asyncDispose]()
    await receiver?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  test('none of them is told anywhere', async () => {
    writeFileSync(join(directory, 'job.log'), `starting\n${OOM}\n`)
    const rows = async () => z.array(notifierRow).parse(await agent.json('/api/v1/notifiers'))
    const said = async (): Promise<string> =>
      (await rows()).map(({ name, delivered, last_error }) => `${name} ${delivered} ${last_error?.text ?? ''}`).join('; ')
    let last = ''
    await poll(
      async () => {
        last = await said()
        const found = await rows()
        const tried = ({ delivered, last_error }: (typeof found)[number]): boolean => delivered > 0 || last_error !== undefined
        return found.length === 9 && found.every(tried)
      },
      { what: () => `every notifier to have tried; they say: ${last}; the log: ${agent.stderr()}`, deadlineMs: 30_000, everyMs: 100 },
    )
    // The secrets were really used.
    expect(receiver.requests.filter((request) => JSON.stringify(request).includes(MARK)).length).toBeGreaterThan(5)
    await poll(() => agent.stderr().includes('heartbeat'), { what: 'the heartbeat that fails to be said', deadlineMs: 20_000 })

    const incidents = z.array(z.object({ id: z.string() })).parse(await agent.json('/api/v1/incidents'))
    const id = incidents[0]?.id ?? ''
    const pages = [
      '/metrics',
      '/api/v1/notifiers',
      '/api/v1/incidents',
      `/api/v1/incidents/${id}`,
      `/api/v1/incidents/${id}/report`,
      '/api/v1/gaps',
      '/api/v1/sources',
      '/readyz',
    ]
    for (const path of pages) {
      const { status, text } = await agent.get(path)
      expect([path, status, text.includes(MARK)]).toEqual([path, 200, false])
    }
    for (const { name } of await rows()) {
      const answer = await fetch(`${agent.url}/api/v1/notifiers/${name}/test`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
      const text = await answer.text()
      expect([name, answer.status, text.includes(MARK)]).toEqual([name, 200, false])
      expect(text).toContain(`"notifier":"${name}"`)
    }
    const env = { HOOK_URL: `${receiver.url}/${MARK}` }
    const outputs = [
      await runToEnd({ args: ['config'], config, env }),
      await runToEnd({ args: ['config', '--json'], config, env }),
      ...(await Promise.all((await rows()).map(({ name }) => runToEnd({ args: ['alerts', 'test', name, '--print'], config, env })))),
      await runToEnd({ args: ['alerts', 'test', 'refused'], config, env }),
      await runToEnd({ args: ['alerts', 'test', 'gone', '--json'], config, env }),
    ]
    expect(outputs.map(({ code, stderr }) => [code, stderr])).toEqual([...Array.from({ length: 11 }, () => [0, '']), [1, ''], [1, '']])
    expect(outputs.filter(({ stdout }) => stdout.length < 50)).toEqual([])
    expect(outputs.filter(({ stdout, stderr }) => (stdout + stderr).includes(MARK)).map(({ stdout }) => stdout)).toEqual([])
    expect(agent.stderr()).not.toContain(MARK)
    await agent.terminate()
    const files = readdirSync(agent.dataDir)
    expect(files).toContain('outbox.db')
    expect(files.filter((name) => readFileSync(join(agent.dataDir, name)).includes(MARK))).toEqual([])
  })
})
