// fast-check as the tests use it: the same examples in each `npm test`, so that a change that has nothing to do with it never fails, and of them the first part; `npm run test:all` takes all of
// them, `npm run test:long` new ones each time.
import * as fc from 'fast-check'
import { IS_ALL, IS_LONG } from './rounds.ts'

const SEED = 20_261_129
/** Of the examples that a test asks for; 100 where it names no number. */
const SHARE = IS_ALL ? 1 : 0.4
const USUAL = 100

if (!IS_LONG) fc.configureGlobal({ seed: SEED, numRuns: USUAL * SHARE })

export * from 'fast-check'

const shared = <T>(given: fc.Parameters<T> | undefined): fc.Parameters<T> => ({ ...given, numRuns: Math.ceil((given?.numRuns ?? USUAL) * SHARE) })

export function assert<T>(property: fc.IAsyncProperty<T>, given?: fc.Parameters<T>): Promise<void>
export function assert<T>(property: fc.IProperty<T>, given?: fc.Parameters<T>): void
export function assert<T>(property: fc.IRawProperty<T>, given?: fc.Parameters<T>): Promise<void> | void {
  return fc.assert(property, shared(given))
}
