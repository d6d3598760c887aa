// From the command line to a command and its exit code.
import { VERSION } from '../lib/version.ts'
import { parseArguments } from './arguments.ts'
import { isUsageError, UsageError, type Command, type Io } from './command.ts'
import { commandNamed, COMMANDS, DEFAULT_COMMAND } from './index.ts'

async function help(command: Command | undefined, io: Io): Promise<number> {
  const { commandHelp, overallHelp } = await import('./help/text.ts')
  if (command !== undefined) io.out(commandHelp(command, io.columns))
  else io.out(overallHelp(await Promise.all(Object.values(COMMANDS).map((load) => load())), await commandNamed(DEFAULT_COMMAND), io.columns))
  return 0
}

/** Runs one command; resolves to the exit code. */
export async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  try {
    const named = argv[0] !== undefined && !argv[0].startsWith('-')
    const all = named ? argv.slice(1) : argv
    const dashes = all.indexOf('--')
    // What is behind is another program's: its --help is not ours.
    const rest = dashes < 0 ? all : all.slice(0, dashes)
    // Known without loading a command, so that they answer at once and whatever else is wrong.
    if (rest.includes('--version') || rest.includes('-V')) {
      io.out(`${VERSION}\n`)
      return 0
    }
    const command = await commandNamed(named ? (argv[0] ?? DEFAULT_COMMAND) : DEFAULT_COMMAND)
    if (rest.includes('--help') || rest.includes('-h')) return await help(named ? command : undefined, io)
    const { takesCommand = false } = command
    const parsed = parseArguments(takesCommand ? rest : all, command.flags, [...command.positionals, ...(command.optionalPositionals ?? [])])
    const args = takesCommand && dashes >= 0 ? { ...parsed, command: all.slice(dashes + 1) } : parsed
    if (args.positionals.length < command.positionals.length) {
      throw new UsageError(`${command.name}: needs ${command.positionals.join(' ')}, not ${args.positionals.join(' ') || 'nothing'}`)
    }
    return await command.run(args, io)
  } catch (error) {
    if (!isUsageError(error)) throw error
    io.err(`warpwatch: ${error.message}\n`)
    return 2
  }
}
