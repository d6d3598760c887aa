// `warpwatch alerts` as its users run it: the list of a served agent, a test message to real receivers, what is printed and what is not.
import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as z from 'zod'
import { describe, expect, onTestFinished, test } from 'vitest'
import { rowLines } from '../../../agent/cli/alerts/alerts.ts'
import { notifierTest } from '../../../agent/http/api/notifier-schemas.ts'
import { webServer } from '../../setup/web-server.ts'
import { runCli } from '../cli/run-cli.ts'
import { NOTIFIER } from '../http/incident-fixture.ts'
import { T } from '../http/fixture.ts'
import { runServer } from '../http/running.ts'

type Post = { readonly path: string; readonly headers: Readonly<Record<string, unknown>>; readonly text: string }

/** Answers each path with the status that it ends with. */
async function receiver() {
  const posts: Post[] = []
  const server = await webServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const path = request.url ?? ''
      posts.push({ path, headers: request.headers, text })
      response.writeHead(Number(/(\d{3})$/.exec(path)?.[1] ?? 200)).end(`about ${path}`)
    })
  })
  onTestFinished(server.close)
  return { posts, url: server.url, host: new URL(server.url).host }
}
function folderWith(config: string): string {
  const cwd = mkdtempSync(join(tmpdir(), 'warpwatch-alerts-cli-'))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  writeFileSync(join(cwd, 'warpwatch.yaml'), config)
  return cwd
}
const sent = z.object({ event: z.string(), reason: z.literal('test'), incident: z.object({ kind: z.string(), title: z.string(), verdict: z.string() }) })

describe('alerts test NAME', () => {
  test('sends a message that says that it is a test, without any agent', async () => {
    const { posts, url, host } = await receiver()
    const cwd = folderWith(`notifiers: [{ name: ops, type: webhook, url: "${url}/in", secret: s3cret }]\n`)
    const { code, stdout, stderr } = await runCli(['alerts', 'test', 'ops', '--kind', 'xid'], { cwd })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(new RegExp(`^ops: a test message was sent to ${host} \\(webhook\\) and taken: status 200 after \\d+ ms\n$`))
    expect(posts.map(({ path }) => path)).toEqual(['/in'])
    const [post] = posts
    const { event, incident } = sent.parse(JSON.parse(post?.text ?? ''))
    expect([event, incident.kind]).toEqual(['firing', 'xid'])
    expect(incident.title).toMatch(/^TEST, /)
    expect(incident.verdict).toContain('nothing has failed')
    expect(post?.headers['x-warpwatch-signature']).toBe(
      `sha256=${createHmac('sha256', 's3cret')
        .update(post?.text ?? '')
        .digest('hex')}`,
    )
    await runCli(['alerts', 'test', 'ops', '--kind', 'xid', '--resolved'], { cwd })
    expect(sent.parse(JSON.parse(posts[1]?.text ?? '')).event).toBe('resolved')
  })

  test('says what came instead, and exits with 1', async () => {
    const { url, host } = await receiver()
    const cwd = folderWith(`notifiers:
  - { name: refused, type: webhook, url: "${url}/hidden-403" }
  - { name: busy, type: webhook, url: "${url}/hidden-503" }
  - { name: gone, type: webhook, url: "http://127.0.0.1:9/hidden" }
`)
    const [refused, busy, gone] = await Promise.all(['refused', 'busy', 'gone'].map((name) => runCli(['alerts', 'test', name], { cwd })))
    expect([refused?.code, busy?.code, gone?.code]).toEqual([1, 1, 1])
    expect(refused?.stdout).toMatch(/status 403 after \d+ ms: the receiver answered with status 403\n.*would be set aside/)
    expect(busy?.stdout).toMatch(/status 503 .*\n.*would be tried again/)
    expect(gone?.stdout).toMatch(/no answer after \d+ ms: .*refused.*\n/i)
    const json = await runCli(['alerts', 'test', 'refused', '--json'], { cwd })
    expect(json.code).toBe(1)
    const tested = notifierTest.parse(JSON.parse(json.stdout))
    expect(tested).toMatchObject({ notifier: 'refused', host, result: 'rejected', status: 403 })
    for (const { stdout, stderr } of [refused, busy, gone, json].flatMap((ended) => ended ?? [])) expect(stdout + stderr).not.toContain('hidden-')
  })

  test('--print shows the request with its secrets hidden and sends nothing', async () => {
    const { posts, url, host } = await receiver()
    const cwd = folderWith(`notifiers:
  - name: pager
    type: template
    url: "${url}/hidden-path?k=hidden-query"
    headers: { Authorization: "Bearer hidden-header" }
    secrets: { routing_key: 'hidden-"body"' }
    body: '{"key": {{ secrets.routing_key | json }}, "text": {{ headline | json }}}'
`)
    const { code, stdout, stderr } = await runCli(['alerts', 'test', 'pager', '--print'], { cwd })
    expect([code, stderr, posts]).toEqual([0, '', []])
    expect(stdout).toMatch(new RegExp(`^POST http://${host}/\\(hidden\\)\nAuthorization: \\(hidden\\)\nContent-Type: application/json\n`))
    expect(stdout).toContain('"key": "(hidden)"')
    expect(stdout).toMatch(/"text": ".*TEST/)
    expect(stdout).not.toContain('hidden-')
    const { headers, body } = z
      .object({ headers: z.record(z.string(), z.string()), body: z.string() })
      .parse(JSON.parse((await runCli(['alerts', 'test', 'pager', '--print', '--json'], { cwd })).stdout))
    expect([headers['Authorization'], body.includes('hidden-')]).toEqual(['(hidden)', false])
  })

  test.each([
    [['alerts', 'tset', 'ops'], 'unknown action "tset": write test or retry, or nothing; the nearest valid one is test'],
    [['alerts', 'test'], 'test: the name of a notifier is missing: alerts test NAME'],
    [['alerts', 'test', 'opps'], 'no notifier is called "opps"; the nearest is ops'],
    [['alerts', 'test', 'ops', '--kind', 'xids'], '--kind: must be a kind of incident such as xid, not "xids"'],
    [['alerts', '--print'], '--print only goes with "test NAME"'],
    [['alerts', 'retry', 'ops', '--kind', 'xid'], '--kind only goes with "test NAME"'],
  ])('%j is wrong usage', async (args, problem) => {
    const cwd = folderWith('notifiers: [{ name: ops, type: webhook, url: "http://127.0.0.1:9/" }]\n')
    const { code, stdout, stderr } = await runCli(args, { cwd })
    expect([code, stdout, stderr]).toEqual([2, '', `warpwatch: alerts: ${problem}\n`])
  })

  test('without notifiers says where they are described', async () => {
    const { code, stderr } = await runCli(['alerts', 'test', 'ops'], { cwd: folderWith('') })
    expect([code, stderr]).toEqual([2, expect.stringContaining('the configuration has none (docs/notifications.md shows how)')])
  })
})

describe('alerts', () => {
  test('lists the notifiers of the running agent', async () => {
    await using running = await runServer()
    const at = ['--listen', new URL(running.url).host]
    const listed = await runCli(['alerts', ...at])
    expect([listed.code, listed.stderr, listed.stdout]).toEqual([0, '', rowLines(NOTIFIER)])
    expect(JSON.parse((await runCli(['alerts', '--json', ...at])).stdout)).toEqual([NOTIFIER])
    expect(await runCli(['alerts', 'retry', 'ops', ...at])).toMatchObject({ code: 0, stdout: 'ops: nothing was set aside\n' })
    const unknown = await runCli(['alerts', 'retry', 'nobody', ...at])
    expect([unknown.code, unknown.stderr]).toEqual([2, 'warpwatch: alerts: 404 no notifier "nobody"; /api/v1/notifiers lists them\n'])
  })

  test('tells what a person needs to know of each', () => {
    expect(rowLines({ ...NOTIFIER, last_error: { at: T, text: 'no\u001b[31m answer' } })).toBe(
      [
        'ops  slack at hooks.slack.com: retrying, 2 waiting since 2025-11-20 00:52:20 UTC, 7 delivered, last 2025-11-20 00:51:50 UTC',
        '  last error 2025-11-20 00:53:20 UTC: no\u00b7[31m answer',
        '  next try 2025-11-20 00:53:21 UTC',
        '  1 expired before they could be delivered',
        '  1 set aside because the receiver refused them; once that is fixed: warpwatch alerts retry ops',
        '',
      ].join('\n'),
    )
    expect(rowLines({ name: 'pager', type: 'webhook', host: 'h', status: 'ok', waiting: 0, delivered: 0, failed_tries: 0, expired: 0, set_aside: 0 })).toBe(
      'pager  webhook at h: ok, nothing waits, 0 delivered\n',
    )
  })

  test('needs an agent that runs', async () => {
    const running = await runServer()
    await running[Symbol.asyncDispose]()
    const { code, stderr } = await runCli(['alerts', '--listen', new URL(running.url).host])
    expect([code, stderr]).toEqual([2, expect.stringContaining('no agent runs there')])
  })
})
