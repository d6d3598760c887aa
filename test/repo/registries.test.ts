// Registries: each part that is declared is listed in the index.ts of its folder, else nothing would ever load it.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
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

/** TypeScript files that can declare a part: those of the folder, `NAME/NAME.ts`, and all of a folder that has an index of its own; as paths below the folder. */
function candidates(folder: string): readonly string[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts') && !name.endsWith('index.ts'))
  return names.filter((name) => {
    const within = dirname(name)
    return within === '.' || basename(name, '.ts') === within || existsSync(join(root, folder, within, 'index.ts'))
  })
}

describe.each(Object.entries(REGISTRIES))('%s/index.ts', (folder, declares) => {
  const textOf = (name: string): string => readFileSync(join(root, folder, name), 'utf8')
  const declaring = candidates(folder).filter((name) => declares.test(textOf(name)))
  const indexes = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((name) => basename(name) === 'index.ts')
  const listed = indexes
    .flatMap((index) => Array.from(textOf(index).matchAll(/'\.\/([\w/-]+\.ts)'/g), ([, name = '']) => join(dirname(index), name)))
    .filter((name) => basename(name) !== 'index.ts' && name !== 'command.ts')

  test('lists every part that is declared beside it', () => {
    expect(declaring, 'what this test takes for a declaration').toEqual(expect.arrayContaining(listed))
    expect(declaring.filter((name) => !listed.includes(name)).map((name) => `${folder}/${name} has no line in the index.ts of its folder`)).toEqual([])
  })
})
