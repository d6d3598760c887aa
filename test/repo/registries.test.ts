// Registries: each part that is declared is listed in the index.ts of its folder, else nothing would ever load it.
import { readFileSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
/** How a file of the folder declares a part. */
const REGISTRIES: Readonly<Record<string, RegExp>> = {
  'agent/collectors': /: Collector = /,
  'agent/sources': /\bdefineSource\(\{/,
  'agent/diagnosis/faults': /\bkind: '|^export const \w+(?:: FaultFamily\b| = memoryFamily\()/m,
  'agent/diagnosis/detectors': /\bdefineDetector\(\{/,
  'agent/doctor/checks': /\bdefineCheck\(\{/,
  'agent/model/kinds': /\bdefineKind\(\{/,
  'agent/cli': /: Command = /,
  'agent/sources/simulated/scenarios': /: Scenario = /,
  'alerts/notifiers': /\bdefineNotifier\(\{/,
  grafana: /: Board = /,
  'scripts/generators': /: Generator = /,
}

describe.each(Object.entries(REGISTRIES))('%s/index.ts', (folder, declares) => {
  const textOf = (name: string): string => readFileSync(join(root, folder, name), 'utf8')
  /** What an index lists, as paths below the folder. */
  const linesOf = (index: string): readonly string[] =>
    Array.from(textOf(index).matchAll(/'\.\/([\w/-]+\.ts)'/g), ([, name = '']) => join(dirname(index), name)).filter((name) => name !== 'command.ts')
  // A registry may be divided by what its parts are about: `export * from './host/index.ts'`.
  // Or by a property of its parts: `export * from './from-logs.ts'`.
  const isList = (name: string): boolean => basename(name) === 'index.ts' || basename(name).startsWith('from-')
  const parts = linesOf('index.ts').filter(isList)
  const listed = ['index.ts', ...parts].flatMap(linesOf).filter((name) => !isList(name))
  const divided = new Set(parts.map((name) => dirname(name)))
  const declaring = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && basename(name) !== 'index.ts')
    // Beside an index, or `NAME/NAME.ts`.
    .filter((name) => dirname(name) === '.' || divided.has(dirname(name)) || basename(name, '.ts') === dirname(name))
    .filter((name) => declares.test(textOf(name)))

  test('lists every part that is declared beside it', () => {
    expect(
      listed.filter((name) => !declares.test(textOf(name))),
      'what this test takes for a declaration',
    ).toEqual([])
    expect(listed.length).toBeGreaterThan(1)
    expect(declaring.filter((name) => !listed.includes(name)).map((name) => `${folder}/${name} has no line in the index.ts of its folder`)).toEqual([])
  })
})
