// The flags that Node is started with leave it the compiled form of its own modules, which it brings along for one state of V8's settings.
import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { CHILD_FLAGS } from '../../../agent/sampler/child-process.ts'
import { nodeFlags } from '../../../scripts/node-flags.mjs'

const usage = z.object({ with: z.int(), without: z.int() })

/** How many of Node's modules beyond those in its snapshot were taken from its cache, and how many it compiled. */
function loadedWith(flags: readonly string[]): z.infer<typeof usage> {
  const program = `
    require('node:http')
    const { compiledWithCache, compiledWithoutCache } = require('internal/test/binding').internalBinding('builtins').getCacheUsage()
    const count = (all) => all.size ?? all.length
    console.log(JSON.stringify({ with: count(compiledWithCache), without: count(compiledWithoutCache) }))`
  const said = execFileSync(process.execPath, ['--expose-internals', '--no-warnings', ...flags, '--eval', program], { encoding: 'utf8' })
  return usage.parse(JSON.parse(said))
}

describe("Node's own compiled modules", () => {
  test.each([
    ['the agent', nodeFlags([])],
    ['its sampler', CHILD_FLAGS],
    ['warpwatch top', nodeFlags(['top'])],
  ])('serve %s', (_, flags) => {
    const loaded = loadedWith(flags)
    expect(loaded.with).toBeGreaterThan(10)
    expect(loaded.without).toBe(0)
  })

  test('are refused with a flag that changes what V8 compiles', () => {
    expect(loadedWith(['--invocation-count-for-turbofan=60000']).with).toBe(0)
  })
})
