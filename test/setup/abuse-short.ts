// The short forms of the abuse suite as tests; `npm run abuse` runs all of it.
import { describe, expect, test } from 'vitest'
import type { AbuseCase } from '../abuse/abuse-case.ts'
import * as registry from '../abuse/cases/index.ts'

const cases: readonly AbuseCase[] = Object.values(registry)

/** `concurrent`: several at once, up to the project's `maxConcurrency`; each has an agent, folders and ports of its own, and mostly waits. */
export function shortForms(these: (each: AbuseCase) => boolean, options: { readonly concurrent?: boolean } = {}): void {
  describe.each(cases.filter((each) => each.hasShortForm && these(each)))('$id', options, (each) => {
    const reason = each.unavailable?.()
    test.skipIf(reason !== undefined)(`${each.promised}${reason === undefined ? '' : ` (skipped: ${reason})`}`, async () => {
      const { held, observed } = await each.run({ short: true })
      expect(held, `observed: ${observed}`).toBe(true)
    })
  })
}
