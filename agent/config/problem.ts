// What is wrong with a configuration, said so that a person finds the place at once.

export type Problem = {
  /** `warpwatch.yaml:7`, `WARPWATCH_HTTP__LISTEN`, `--listen`. */
  readonly where: string
  readonly text: string
}

/** Carries every problem, not only the first. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[]
  constructor(problems: readonly Problem[], options?: ErrorOptions) {
    super(problems.map(({ where, text }) => `${where}: ${text}`).join('\n'), options)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** What came, in a few words: `"12" (text)`, `12 (number)`, `a list`, `nothing`. */
export function describeValue(value: unknown): string {
  if (value === undefined || value === null) return 'nothing'
  if (typeof value === 'string') return `${JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}…` : value)} (text)`
  if (typeof value === 'number' || typeof value === 'bigint') return `${value} (number)`
  if (typeof value === 'boolean') return `${value} (true or false)`
  if (Array.isArray(value)) return value.length > 5 ? `a list of ${value.length}` : `the list ${JSON.stringify(value)}`
  return 'a group of keys'
}

/** What is wrong with a value, behind the place: `must be true or false, not "maybe" (text)`. */
export const mustBe = (expected: string, came: string): string => (came === 'nothing' ? `missing: give ${expected}` : `must be ${expected}, not ${came}`)

/** The same of a value that may be a secret. */
export const cameInstead = ({ secret }: { readonly secret: boolean }, value: unknown): string =>
  secret ? 'a value of another kind (hidden)' : describeValue(value)
