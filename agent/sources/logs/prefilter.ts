// Which bytes are worth a second look: nearly all lines of a log say nothing, and no object is made for them.

/**
 * Whether the range may hold a line that matters. It may say yes too often, never no too often. Called with whole blocks first, then with
 * the lines of the blocks that it took; a match never needs more than one line. `mark`: nothing is wrong, but the line is worth telling alone
 * now and then (a job says that it has saved its state).
 */
export type Prefilter = (bytes: Uint8Array, start: number, end: number) => boolean | 'mark'
