// What of Node an agent with its default settings loads: not TLS, whose certificates are parsed on a thread of its own, nor the tables of languages.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { compiler } from '../fakes/nvml/build.ts'
import { hostOf } from '../fakes/nvml/scenario.ts'
import { startAgent } from '../setup/agent.ts'
import { poll } from '../setup/poll.ts'

const folder = mkdtempSync(join(tmpdir(), 'warpwatch-modules-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** In each process of the agent: at its end it writes what it loaded, and which formatters of Intl it made. */
const NOTES = `
  const made = []
  for (const name of Object.getOwnPropertyNames(Intl)) {
    const Formatter = Intl[name]
    if (typeof Formatter === 'function' && Formatter.prototype !== undefined)
      Intl[name] = new Proxy(Formatter, { construct: (target, args) => (made.push(name), new target(...args)) })
  }
  process.on('exit', () => process.getBuiltinModule('node:fs').writeFileSync(
    '${folder}/' + process.pid + '.json', JSON.stringify({ loaded: process.moduleLoadList, made })))`
const notes = z.object({ loaded: z.array(z.string()), made: z.array(z.string()) })

describe.skipIf(compiler === undefined)('an agent with its default settings (needs a C compiler)', () => {
  test('loads neither TLS nor HTTP/2 of Node, nor the tables of a language', async () => {
    const agent = await startAgent({ scenario: hostOf(2), ready: true, env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(NOTES)}` } })
    try {
      expect((await agent.get('/metrics')).text).toContain('\nwarpwatch_gpu_memory_used_bytes{')
      await agent.terminate()
    } finally {
      await agent.stop()
    }
    await poll(() => readdirSync(folder).length >= 2, { what: 'the notes of the agent and its sampler' })
    for (const name of readdirSync(folder)) {
      const { loaded, made } = notes.parse(JSON.parse(readFileSync(join(folder, name), 'utf8')))
      // The list itself is there.
      expect(loaded).toContain('NativeModule net')
      expect(loaded.filter((module) => /^NativeModule (?:tls|https|http2|internal\/crypto\/webcrypto)$/.test(module))).toEqual([])
      expect(made).toEqual([])
    }
  })
})
