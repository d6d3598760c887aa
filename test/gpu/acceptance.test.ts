// On a host with an NVIDIA GPU: every reading agrees with nvidia-smi on the same second.
import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { compareWithSmi } from './compare.ts'
import { LIBRARIES, childEntry } from './main.ts'
import { startSampler } from './sampler.ts'

describe.skipIf(!existsSync('/dev/nvidiactl'))('readings against nvidia-smi (needs an NVIDIA GPU)', () => {
  test('agree', async () => {
    const sampler = await startSampler(childEntry, LIBRARIES)
    try {
      const verdicts = await compareWithSmi(sampler)
      expect(verdicts.length).toBeGreaterThan(10)
      expect(verdicts.filter((verdict) => !verdict.agrees)).toEqual([])
    } finally {
      sampler.close()
    }
  })
})
