// `warpwatch silence` and what `warpwatch incidents ID` may change, as their users run them, against a served agent.
import { describe, expect, test } from 'vitest'
import { durationMs } from '../../../agent/cli/silence.ts'
import { T } from '../incidents/scene.ts'
import { runOperatedHost } from '../http/operated-host.ts'
import { runCli } from './run-cli.ts'

const HOUR = 3_600_000

test.each([
  ['90m', 1.5 * HOUR],
  ['2h', 2 * HOUR],
  ['1d12h', 36 * HOUR],
  ['45s', 45_000],
  ['0h', undefined],
  ['2', undefined],
  ['2 h', undefined],
  ['-2h', undefined],
  ['', undefined],
  ['2h?', undefined],
])('%j is a time', (text, ms) => expect(durationMs(text)).toBe(ms))

describe('warpwatch silence', () => {
  test('silences, lists, ends', async () => {
    await using host = await runOperatedHost({ token: 's3cret' })
    const at = ['--listen', new URL(host.url).host]
    const env = { WARPWATCH_HTTP__TOKEN: 's3cret', USER: 'kim', SUDO_USER: '' }
    const made = await runCli(['silence', '--kind', 'throttling', '--gpu', '3', '--for', '2h', '--reason', 'new fan \u001b[31m', ...at], { env })
    expect(made).toMatchObject({ code: 0, stderr: '' })
    const [silence] = host.operator.silences()
    expect(silence).toMatchObject({ kind: 'throttling', gpu: '3', until: T + 2 * HOUR, reason: 'new fan \u001b[31m', by: 'kim' })
    expect(made.stdout).toBe(`Silenced: ${silence?.id}  until 2025-11-20 02:53 UTC  throttling, GPU 3: new fan ·[31m (kim)\n`)
    expect(JSON.parse((await runCli(['silence', '--json', ...at], { env })).stdout)).toEqual([silence])
    expect((await runCli(['silence', ...at], { env: { ...env, WARPWATCH_HTTP__TOKEN: 'wrong' } })).stderr).toContain('WARPWATCH_HTTP__TOKEN')
    expect(await runCli(['silence', '--remove', silence?.id ?? '', ...at], { env })).toMatchObject({ code: 0, stdout: `Silence ${silence?.id} is over\n` })
    expect(host.operator.silences()).toEqual([])
    const none = await runCli(['silence', '--remove', 'x', ...at], { env })
    expect([none.code, none.stderr]).toEqual([2, 'warpwatch: silence: 404 no silence "x"; /api/v1/silences lists them\n'])
  })

  test.each([
    [['--for', '2h', '--reason', 'r'], 'give --kind, --gpu, --container or --severity, or --all for the whole host'],
    [['--all', '--gpu', '0', '--for', '2h', '--reason', 'r'], 'exclude each other'],
    [['--gpu', '0', '--for', '2h'], '--reason is missing: say why'],
    [['--gpu', '0', '--reason', 'r'], 'its end is missing'],
    [['--gpu', '0', '--for', 'long', '--reason', 'r'], '--for: must be a time such as 90m, 2h or 1d12h, not "long"'],
    [['--gpu', '0', '--until', 'soon', '--reason', 'r'], '--until: must be a time such as 2026-11-20T18:00Z, not "soon"'],
    [['--kind', 'throtling', '--for', '2h', '--reason', 'r'], '--kind: must be a kind of incident such as throttling, not "throtling"'],
    [['--severity', 'bad', '--for', '2h', '--reason', 'r'], '--severity: must be one of info, warning, critical, not "bad"'],
    [['--remove', 'x', '--gpu', '0'], '--remove goes alone'],
  ])('%j is wrong usage', async (args, problem) => {
    const { code, stderr } = await runCli(['silence', ...args])
    expect([code, stderr.trim().split('\n').length]).toEqual([2, 1])
    expect(stderr).toContain(problem)
  })
})

test('needs an agent that runs', async () => {
  const host = await runOperatedHost()
  await host[Symbol.asyncDispose]()
  const { code, stderr } = await runCli(['silence', '--listen', new URL(host.url).host])
  expect([code, stderr]).toEqual([2, expect.stringContaining('no agent runs there')])
})

describe('warpwatch incidents ID', () => {
  test('acknowledges, then sets healthy', async () => {
    await using host = await runOperatedHost()
    const id = host.lose(0)
    const at = ['--listen', new URL(host.url).host]
    const env = { SUDO_USER: 'kim' }
    const acknowledged = await runCli(['incidents', id, '--ack', '--note', 'on my way', ...at], { env })
    expect([acknowledged.code, acknowledged.stdout]).toEqual([0, expect.stringMatching(new RegExp(`^${id}  acknowledged: `))])
    expect((await runCli(['incidents', ...at])).stdout).toContain('acknowledged: by kim, 2025-11-20 00:53:20 UTC: on my way')
    const healthy = await runCli(['incidents', id, '--set-healthy', '--by', 'lee', '--json', ...at], { env })
    expect(JSON.parse(healthy.stdout)).toMatchObject({ id, status: 'resolved', resolution: 'set healthy by lee', acknowledged: { by: 'kim' } })
    expect((await runCli(['incidents', id, '--set-healthy', ...at], { env })).stderr).toContain('409')
    await host.server.close()
    // When the agent has gone, its files still tell it.
    expect((await runCli(['incidents', '--data-dir', host.directory, ...at])).stdout).toContain('on my way')
  })

  test.each([
    [['--ack'], '--ack: the id of an incident is missing'],
    [['0123456789abcdef', '--ack', '--set-healthy'], 'give --ack or --set-healthy, not both'],
    [['0123456789abcdef', '--note', 'x'], '--by and --note only go with --ack or --set-healthy'],
  ])('%j is wrong usage', async (args, problem) => {
    const { code, stderr } = await runCli(['incidents', ...args])
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)])
  })
})
