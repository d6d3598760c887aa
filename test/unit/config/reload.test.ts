// Reading the configuration again: what is taken, what is named, what is refused, and that nothing is done twice at a time.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, expect, test } from 'vitest'
import { ConfigError } from '../../../agent/config/problem.ts'
import { loadConfig } from '../../../agent/config/load.ts'
import { createReloader, type ReloadPart } from '../../../agent/config/reload.ts'
import type { Config } from '../../../agent/config/schema.ts'
import type { ReloadState } from '../../../agent/model/reload.ts'
import { kept } from '../../setup/alert-scene.ts'

const ALL = ['log.level', 'http.token', 'http.allowed_hosts', 'alerts.base_url', 'targets']

/** A reloader over a real file; `put` is what its parts put in force. */
async function scene(
  text: string,
  more: { readonly takes?: readonly string[]; readonly parts?: readonly ReloadPart[]; readonly gate?: () => Promise<void> } = {},
) {
  const cwd = mkdtempSync(join(tmpdir(), 'warpwatch-reload-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  const write = (content: string): void => writeFileSync(join(cwd, 'warpwatch.yaml'), content)
  write(text)
  let reads = 0
  const read = async () => {
    reads++
    await more.gate?.()
    try {
      return await loadConfig({ env: {}, cwd })
    } catch (error) {
      if (error instanceof ConfigError) return error.problems
      throw error
    }
  }
  const put: Config[] = []
  const states: ReloadState[] = []
  const { lines, log } = kept()
  const part: ReloadPart = { takes: more.takes ?? ALL, prepare: (next) => () => void put.push(next) }
  const { config: initial } = await loadConfig({ env: {}, cwd })
  const reloader = createReloader({ initial, parts: [part, ...(more.parts ?? [])], read, log, onState: (state) => states.push(state) })
  return { ...reloader, initial, write, put, lines, states, reads: () => reads }
}

test('takes what a part takes, and names the rest as long as it differs', async () => {
  const { reload, write, put, config, lines, initial } = await scene('log: {level: info}\n')
  write('log: {level: warn}\ndata_dir: /elsewhere\nhttp: {listen: "127.0.0.1:1"}\n')
  expect(await reload()).toEqual({ ok: true, changed: ['log.level'], needs_restart: ['data_dir', 'http.listen'], warnings: [] })
  expect(put.map(({ log, data_dir: dir }) => [log.level, dir])).toEqual([['warn', initial.data_dir]])
  expect([config().log.level, config().http.listen]).toEqual(['warn', '127.0.0.1:9839'])
  expect(lines.join('\n')).toMatch(/configuration reloaded from .*warpwatch\.yaml: log\.level changed\nneeds a restart: data_dir, http\.listen/)
  expect(await reload()).toMatchObject({ changed: [], needs_restart: ['data_dir', 'http.listen'] })
  expect(put).toHaveLength(1)
  write('log: {level: info}\n')
  expect(await reload()).toMatchObject({ changed: ['log.level'], needs_restart: [] })
})

test('a wrong one is refused as a whole: every problem is told, nothing changes', async () => {
  const { reload, write, put, config, lines, states } = await scene('log: {level: info}\n')
  write('log: {level: warn}\nhttp: {lisen: 1}\ntargets: 7\n')
  const result = await reload()
  expect(result).toMatchObject({ ok: false })
  expect(lines.join('\n')).toMatch(/not reloaded, the old one stays in force:\nwarpwatch\.yaml:2: unknown key http\.lisen.*\nwarpwatch\.yaml:3: targets/)
  expect([put, config().log.level]).toEqual([[], 'info'])
  write('{ not yaml')
  expect(await reload()).toMatchObject({ ok: false })
  const [started, ...failed] = states
  expect(failed).toEqual([
    { successful: false, succeededAt: started?.succeededAt },
    { successful: false, succeededAt: started?.succeededAt },
  ])
  write('log: {level: warn}\n')
  expect(await reload()).toMatchObject({ ok: true, changed: ['log.level'] })
  expect(states.at(-1)?.successful).toBe(true)
})

test('what a part cannot make ready refuses all of it', async () => {
  const refusing: ReloadPart = {
    takes: ['targets'],
    prepare: () => {
      throw new Error('the template cannot be read')
    },
  }
  const { reload, write, put, config } = await scene('log: {level: info}\n', { takes: ['log.level'], parts: [refusing] })
  write('log: {level: warn}\ntargets: [{name: a, url: "http://127.0.0.1/"}]\n')
  expect(await reload()).toEqual({ ok: false, problems: ['the template cannot be read'] })
  expect([put, config().log.level]).toEqual([[], 'info'])
})

test('a port that is open to others keeps its token until the restart', async () => {
  const { reload, write, config } = await scene('http: {listen: "0.0.0.0:9839", token: old}\n')
  // Valid by itself; together with the port as it is, nobody would be asked for a token.
  write('http: {listen: "127.0.0.1:9839", allowed_hosts: [gpu-01]}\n')
  expect(await reload()).toMatchObject({ changed: ['http.allowed_hosts'], needs_restart: ['http.listen', 'http.token'] })
  expect(config().http).toMatchObject({ listen: '0.0.0.0:9839', token: 'old', allowed_hosts: ['gpu-01'] })
  write('http: {listen: "0.0.0.0:9839", token: new}\n')
  expect(await reload()).toMatchObject({ changed: ['http.token', 'http.allowed_hosts'], needs_restart: [] })
  expect(config().http.token).toBe('new')
})

test('links of messages go on leading to the port that is served', async () => {
  const { reload, write, config } = await scene('http: {listen: "192.0.2.1:9839", insecure: true}\n')
  write('http: {listen: "192.0.2.1:7777", insecure: true}\n')
  expect(await reload()).toMatchObject({ changed: [], needs_restart: ['http.listen'] })
  expect(config().alerts.base_url).toBe('http://192.0.2.1:9839')
  write('http: {listen: "192.0.2.1:9839", insecure: true}\nalerts: {base_url: "https://gpu-01.example.com/"}\n')
  expect(await reload()).toMatchObject({ changed: ['alerts.base_url'], needs_restart: [] })
  expect(config().alerts.base_url).toBe('https://gpu-01.example.com')
})

test('a storm is one reload, and one more for all who asked meanwhile', async () => {
  const gates: (() => void)[] = []
  const { reload, write, reads, close } = await scene('log: {level: info}\n', { gate: () => new Promise((resolve) => gates.push(resolve)) })
  const first = reload()
  const later = Array.from({ length: 100 }, () => reload())
  expect(reads()).toBe(1)
  write('log: {level: warn}\n')
  gates.shift()?.()
  expect(await first).toMatchObject({ ok: true })
  await expect.poll(() => gates.length).toBe(1)
  gates.shift()?.()
  for (const result of await Promise.all(later)) expect(result).toMatchObject({ ok: true })
  expect(reads()).toBe(2)
  await close()
  expect(await reload()).toMatchObject({ ok: false })
  expect(reads()).toBe(2)
})
