// What V8 made of a script is taken back at the next start; where it is of another text, other flags or broken, the script is compiled as without it.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { loadScript, whenLoaded, writeCompiled } from '../../../agent/lib/script-file.ts'

const SOURCES = join(import.meta.dirname, '../../../agent/lib/script-file.ts')
const started = z.object({ exports: z.unknown(), taken: z.record(z.string(), z.boolean()) })
const EXPORTS = { three: 3, part: 'part', os: 'function' }

const script = (body: string): string => `(function(exports,require,module,__filename,__dirname){${body}\n})`
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ww-script-'))
  writeFileSync(
    join(folder, 'main.cjs'),
    script("const sum = (a, b) => a + b; exports.three = sum(1, 2); exports.part = require('./part.cjs').name; exports.os = typeof require('node:os').cpus"),
  )
  writeFileSync(join(folder, 'part.cjs'), script("exports.name = 'part'"))
  whenLoaded(writeCompiled)
  loadScript(folder, 'main.cjs')
  whenLoaded(() => {})
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Loads it in a process of its own: what it exports and, of each script that came with something compiled, whether V8 took that. */
function start(...flags: readonly string[]): z.infer<typeof started> {
  const program = `
    import { loadScript, whenLoaded } from ${JSON.stringify(SOURCES)}
    const taken = {}
    whenLoaded(({ file, script }) => { if (script.cachedDataRejected !== undefined) taken[file.split('/').at(-1)] = !script.cachedDataRejected })
    const exports = loadScript(${JSON.stringify(folder)}, 'main.cjs')
    console.log(JSON.stringify({ exports, taken }))`
  return started.parse(JSON.parse(execFileSync(process.execPath, ['--no-warnings', ...flags, '--input-type=module', '--eval', program], { encoding: 'utf8' })))
}
const compiled = (): string =>
  join(folder, readdirSync(folder).find((file) => file.startsWith('main.cjs.v')) ?? expect.unreachable(`nothing compiled in ${folder}`))

describe('a script of the build', () => {
  test('is taken as V8 compiled it', () => {
    expect(start()).toEqual({ exports: EXPORTS, taken: { 'main.cjs': true, 'part.cjs': true } })
  })

  test('is compiled under flags that what was kept is not for', () => {
    expect(start('--no-opt')).toEqual({ exports: EXPORTS, taken: { 'main.cjs': false, 'part.cjs': false } })
  })

  test.each(['the sum of the text', 'the other sum', 'the middle', 'the end'].map((name, i) => ({ name, i })))('is compiled where $name is broken', ({ i }) => {
    const bytes = readFileSync(compiled())
    const at = [0, 4, bytes.length >> 1, bytes.length - 1][i] ?? 0
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0x5a, at)
    writeFileSync(compiled(), bytes)
    expect(start()).toEqual({ exports: EXPORTS, taken: { 'part.cjs': true } })
  })

  test('is compiled where another text of the same length has come', () => {
    writeFileSync(join(folder, 'part.cjs'), script("exports.name = 'trap'"))
    expect(start()).toEqual({ exports: { ...EXPORTS, part: 'trap' }, taken: { 'main.cjs': true } })
  })

  test('is compiled where what was kept is cut', () => {
    writeFileSync(compiled(), readFileSync(compiled()).subarray(0, 6))
    expect(start()).toEqual({ exports: EXPORTS, taken: { 'part.cjs': true } })
  })
})
