// The tool that compares readings with nvidia-smi on real hosts, tried here: a made-up nvidia-smi beside the fake library, agreeing and not.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { compareWithSmi } from '../../gpu/compare.ts'
import { childEntry } from '../../gpu/main.ts'
import { startSampler } from '../../gpu/sampler.ts'
import { fakeLibrary } from '../../fakes/nvml/build.ts'
import { fakeUuid, hostOf, scenarioFile } from '../../fakes/nvml/scenario.ts'

const library = fakeLibrary()

/** A command that knows these fields of GPU 0 and prints them in the order asked. */
function fakeSmi(folder: string, fields: Readonly<Record<string, string>>): string {
  const path = join(folder, 'nvidia-smi')
  writeFileSync(
    path,
    `#!${process.execPath}
const fields = ${JSON.stringify(fields)}
const query = process.argv.find((arg) => arg.startsWith('--query-gpu='))
if (query === undefined) for (const name in fields) console.log('"' + name + '"')
else console.log(query.slice(12).split(',').map((name) => fields[name]).join(', '))
`,
  )
  chmodSync(path, 0o755)
  return path
}

describe.skipIf(library === undefined)('comparison with nvidia-smi (needs a C compiler)', () => {
  test('finds what agrees, what differs, and what only one of them can tell', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'warpwatch-smi-'))
    const file = scenarioFile(hostOf(1))
    process.env['FAKE_NVML_SCENARIO'] = file.path
    const command = fakeSmi(folder, {
      uuid: fakeUuid(0),
      name: 'NVIDIA H100 80GB HBM3',
      driver_version: '580.95.05', // the fake library says 590.48.01
      'memory.total': '81559',
      'memory.used': '41007', // 47 MiB more
      'power.draw': '495.10',
      'fan.speed': '[N/A]',
      'temperature.memory': '[N/A]', // the fake library tells 60
      'retired_pages.double_bit.count': '0', // the fake library does not tell
      'pcie.link.gen.current': '5',
    })
    const sampler = await startSampler(childEntry, [library ?? ''])
    try {
      const verdicts = await compareWithSmi(sampler, command, 2)
      expect(Object.fromEntries(verdicts.map((verdict) => [verdict.field, verdict.agrees]))).toEqual({
        name: true,
        driver_version: false,
        'memory.total': true,
        'memory.used': false,
        'power.draw': true,
        'fan.speed': true,
        'temperature.memory': false,
        'retired_pages.double_bit.count': false,
        'pcie.link.gen.current': true,
      })
    } finally {
      sampler.close()
      file.remove()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
