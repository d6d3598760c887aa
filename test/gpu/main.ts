// Compares the agent's readings with nvidia-smi on this host and prints a table; exit 1 when they disagree, 2 when there is nothing to compare.
// Needs Node and a driver only: node test/gpu/main.ts
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { compareWithSmi } from './compare.ts'
import { startSampler } from './sampler.ts'

const root = join(import.meta.dirname, '../..')
/** The sources where they are here, else what a bundle holds. */
export const childEntry = [join(root, 'agent/sampler/child-main.ts'), join(root, 'dist/sampler-child.js')].find(existsSync) ?? ''
export const LIBRARIES = ['libnvidia-ml.so.1', '/usr/lib/wsl/lib/libnvidia-ml.so.1']

async function check(): Promise<number> {
  const sampler = await startSampler(childEntry, LIBRARIES)
  try {
    const verdicts = await compareWithSmi(sampler)
    for (const { gpu, field, ours, theirs, agrees } of verdicts)
      console.log([agrees ? 'ok' : 'WRONG', gpu, field.padEnd(40), ours.padEnd(28), theirs].join('  '))
    const wrong = verdicts.filter((verdict) => !verdict.agrees).length
    console.log(`${verdicts.length} readings compared, ${wrong} disagree`)
    return wrong > 0 || verdicts.length === 0 ? 1 : 0
  } finally {
    sampler.close()
  }
}

if (import.meta.main) {
  process.exitCode = await check().catch((error: unknown) => {
    console.error(`warpwatch-gpu-check: expected an NVIDIA GPU with its driver and nvidia-smi; ${error instanceof Error ? error.message : String(error)}`)
    return 2
  })
}
