// How often a test repeats what each further time only makes a rare thing likelier: the seeds, the kills, the turns. `npm run test:long` does the full number.

export const IS_LONG = process.env['TEST_LONG'] === '1'

/** Never for what one round is needed to show: a test that passes with fewer rounds must still fail where its promise is broken. */
export const rounds = ({ full, quick }: { readonly full: number; readonly quick: number }): number => (IS_LONG ? full : quick)
