// What a command of the command line is.

export type FlagSpec = {
  /** `values`: may be given several times, and takes all that follow it: `--compose a.yml b.yml`. */
  readonly kind: 'switch' | 'value' | 'optional-value' | 'values'
  /** One letter: `v` for `-v`. */
  readonly short?: string
  /** What the value is called in the help: FILE, ADDRESS:PORT. */
  readonly value?: string
  readonly help: string
}

export type Io = {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  /** How wide the terminal is; absent: what is printed is not for one. */
  readonly columns?: number
}

/** Flags by name: true for one without a value. */
export type Arguments = {
  readonly flags: ReadonlyMap<string, string | true>
  readonly positionals: readonly string[]
  /** All values of flags of the kind `values`. */
  readonly lists?: ReadonlyMap<string, readonly string[]>
  /** What is behind `--`, of a command that takes one. */
  readonly command?: readonly string[]
}

export type Command = {
  readonly name: string
  readonly summary: string
  readonly flags: Readonly<Record<string, FlagSpec>>
  /** Names of the positional arguments, all required. */
  readonly positionals: readonly string[]
  /** Names of those that may follow and may be left out; the last one may be repeated where its name ends with an ellipsis. */
  readonly optionalPositionals?: readonly string[]
  /** What is behind `--` is a command of the user's, with arguments of its own. */
  readonly takesCommand?: true
  /** The exit code: 0 done, 1 the check found something wrong, 2 wrong usage or unreadable input. */
  readonly run: (args: Arguments, io: Io) => Promise<number>
}

/** Wrong usage or unreadable input: one line for the user, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
/** By its name: `run` is a script of its own in the build (scripts/bundled-code.mjs), with a class of its own. */
export const isUsageError = (error: unknown): error is UsageError => error instanceof Error && error.name === 'UsageError'
