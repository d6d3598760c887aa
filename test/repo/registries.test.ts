// Registries: each part that is declared is listed in the index.ts of its folder, else nothing would ever load it.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
/** How a file of the folder declares a part. */
const REGISTRIES: Readonly<Record<string, RegExp>> = {
  'agent/collectors': /: Collector = /,
  'agent/sources': /\bdefineSource\(\{/,
  'agent/diagnosis/faults': /\bkind: '|^export const \w+: FaultFamily\b/m,
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
  const index = textOf('index.ts')
  const declaring = readdirSync(join(root, folder)).filter((name) => name.endsWith('.ts') && name !== 'index.ts' && declares.test(textOf(name)))

  test('lists every part that is declared beside it', () => {
    const listed = Array.from(index.matchAll(/'\.\/([\w-]+\.ts)'/g), ([, name]) => name).filter((name) => name !== 'command.ts')
    expect(declaring, 'what this test takes for a declaration').toEqual(expect.arrayContaining(listed))
    expect(declaring.filter((name) => !index.includes(`'./${name}'`)).map((name) => `${folder}/${name} has no line in ${folder}/index.ts`)).toEqual([])
  })
})
