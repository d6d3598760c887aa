// How much of the tests is run. `npm test` runs what a change of the code can break; `npm run test:all` also what takes long for what it shows: packages, other programs, every variant
// (files named `NAME.all…test.ts`, and the tests that ask here); `npm run test:long` besides the full number of seeds, kills and turns.

export const IS_LONG = process.env['TEST_LONG'] === '1'
export const IS_ALL = IS_LONG || process.env['TEST_ALL'] === '1'

/** Of variants that differ little: all of them, or in `npm test` those at the front. */
export const variants = <T>(all: readonly T[], everyDay: number): readonly T[] => (IS_ALL ? all : all.slice(0, everyDay))

/** How often a test repeats what each further time only makes a rare thing likelier. Never for what one round is needed to show: a test that passes with fewer rounds must still fail where its promise is broken. */
export const rounds = ({ full, quick }: { readonly full: number; readonly quick: number }): number => (IS_LONG ? full : quick)

/** Of a list that a test goes through again and again: all of it each time, or in `npm test` another part each time, a third unless told otherwise. */
export const part = <T>(all: readonly T[], time: number, of = 3): readonly T[] => (IS_ALL ? all : all.filter((_, at) => (at + time) % of === 0))
