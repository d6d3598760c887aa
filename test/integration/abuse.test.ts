// The short form of the abuse suite; `npm run abuse` runs all of it.
import { describe, expect, test } from 'vitest'
import type { AbuseCase } from '../abuse/abuse-case.ts'
import * as registry from '../abuse/cases/index.ts'

const cases: readonly AbuseCase[] = Object.values(registry)

describe.each(cases.filter(({ hasShortForm }) => hasShortForm))('$id', (each) => {
  const reason = each.unavailable?.()
  test.skipIf(reason !== undefined)(`${each.promised}${reason === undefined ? '' : ` (skipped: ${reason})`}`, async () => {
    expect(await each.run({ short: true })).toEqual({ held: true, observed: expect.any(String) })
  })
})
