// Words from outside in a regular expression.

/** The text as a pattern that finds it and nothing else. `RegExp.escape` is too new for the browsers that run our workers. */
export const literalPattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`)
