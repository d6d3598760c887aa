// How long a soak lasts: the number on the command line, an hour without one.

export const minutesWanted = (): number => Number(process.argv.slice(2).find((text) => /^\d+$/.test(text)) ?? 60)
