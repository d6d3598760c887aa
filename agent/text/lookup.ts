// Looks a word from outside up in a table of ours.

/** What the table itself has: a word such as `constructor` would else find what every object inherits. */
export const lookup = <Value>(table: Readonly<Record<string, Value>>, word: string): Value | undefined => (Object.hasOwn(table, word) ? table[word] : undefined)
