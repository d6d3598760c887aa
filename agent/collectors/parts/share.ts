// A share of a whole, as the memory figures give it.

/** Six decimals, as DCGM prints it: a byte more or less of 80 GiB is no new value. */
export const share = (used: number, all: number): number => Math.round((used / all) * 1e6) / 1e6
