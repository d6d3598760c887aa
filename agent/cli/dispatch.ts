// From the command line to a command and its exit code.
import { VERSION } from '../lib/version.ts'
import { parseArguments } from './arguments.ts'
import { UsageError, type Command, type Io } from './command.ts'
import { commandNamed, COMMANDS, DEFAULT_COMMAND } from './index.ts'

async function help(command: Command | undefined, io: Io): Promise<number> {
  const { commandHelp, overallHelp } = await import('./help/text.ts')
  if (command !== undefined) io.out(commandHelp(command))
  else io.out(overallHelp(await Promise.all(Object.values(COMMANDS).map((load) => load())), await commandNamed(DEFAULT_COMMAND)))
  return 0
}

/** Runs one command; resolves to the exit code. */
export async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  try {
    const named = argv[0] !== undefined && !argv[0].startsWith('-')
    const rest = named ? argv.slice(1) : argv
    // Known without loading a command, so that they answer at once and whatever else is wrong.
    if (rest.includes('--version') || rest.includes('-V')) {
      io.out(`${VERSION}\n`)
      return 0
    }
    const command = await commandNamed(named ? (argv[0] ?? DEFAULT_COMMAND) : DEFAULT_COMMAND)
    if (rest.includes('--help') || rest.includes('-h')) return await help(named ? command : undefined, io)
    const args = parseArguments(rest, command.flags, [...command.positionals, ...(command.optionalPositionals ?? [])])
    if (args.positionals.length < command.positionals.length) {
      throw new UsageError(`${command.name}: needs ${command.positionals.join(' ')}, not ${args.positionals.join(' ') || 'nothing'}`)
    }
    return await command.run(args, io)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    io.err(`warpwatch: ${error.message}\n`)
    return 2
  }
}
