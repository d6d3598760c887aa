// fast-check as the tests use it: the same examples in each `npm test`, so that a change that has nothing to do with it never fails; `npm run test:long` takes new ones each time.
import { configureGlobal } from 'fast-check'
import { IS_LONG } from './rounds.ts'

const SEED = 20_261_129

if (!IS_LONG) configureGlobal({ seed: SEED })

export * from 'fast-check'
