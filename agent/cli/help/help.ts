// `warpwatch help [COMMAND]`: what --help prints.
import { COMMON_FLAGS } from '../arguments.ts'
import type { Command } from '../command.ts'
import { commandHelp, overallHelp } from './text.ts'
import { COMMANDS, commandNamed, DEFAULT_COMMAND } from '../index.ts'

const described = ({ name, summary, flags, positionals, optionalPositionals = [] }: Command) => ({
  name,
  summary,
  arguments: [
    ...positionals.map((argument) => ({ name: argument, required: true })),
    ...optionalPositionals.map((argument) => ({ name: argument, required: false })),
  ],
  flags: Object.entries({ ...flags, ...COMMON_FLAGS }).map(([flag, { kind, value, help: text }]) => ({
    name: `--${flag}`,
    ...(kind === 'switch' ? {} : { value: value ?? 'VALUE' }),
    help: text,
  })),
})

export const help: Command = {
  name: 'help',
  summary: 'lists the commands, or describes one',
  positionals: [],
  optionalPositionals: ['COMMAND'],
  flags: { json: { kind: 'switch', help: 'print JSON' } },
  async run({ flags, positionals: [name] }, io) {
    const commands = name === undefined ? await Promise.all(Object.values(COMMANDS).map((load) => load())) : [await commandNamed(name)]
    const [only] = commands
    if (flags.has('json')) io.out(`${JSON.stringify({ default: DEFAULT_COMMAND, commands: commands.map(described) }, null, 2)}\n`)
    else if (name !== undefined && only !== undefined) io.out(commandHelp(only, io.columns))
    else io.out(overallHelp(commands, await commandNamed(DEFAULT_COMMAND), io.columns))
    return 0
  },
}
