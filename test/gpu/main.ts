// Compares the agent's readings with nvidia-smi on this host and prints a table; exit 1 when they disagree. Needs Node and a driver only: node test/gpu/main.ts
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { compareWithSmi } from './compare.ts'
import { startSampler } from './sampler.ts'

const root = join(import.meta.dirname, '../..')
/** The sources where they lie here, else what a bundle holds. */
export const childEntry = [join(root, 'agent/sampler/child.ts'), join(root, 'dist/sampler-child.js')].find(existsSync) ?? ''
export const LIBRARIES = ['libnvidia-ml.so.1', '/usr/lib/wsl/lib/libnvidia-ml.so.1']

if (import.meta.main) {
  const sampler = await startSampler(childEntry, LIBRARIES)
  const verdicts = await compareWithSmi(sampler)
  sampler.close()
  for (const { gpu, field, ours, theirs, agrees } of verdicts) console.log([agrees ? 'ok' : 'WRONG', gpu, field.padEnd(40), ours.padEnd(28), theirs].join('  '))
  const wrong = verdicts.filter((verdict) => !verdict.agrees).length
  console.log(`${verdicts.length} readings compared, ${wrong} disagree`)
  process.exitCode = wrong > 0 || verdicts.length === 0 ? 1 : 0
}
