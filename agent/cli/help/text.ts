// The help texts, made from what the commands declare.
import { COMMON_FLAGS } from '../arguments.ts'
import type { Command, FlagSpec } from '../command.ts'
import { wrapped } from '../wrapped.ts'

const LEAST_ROOM = 30

/** `columns`: of the terminal, where it is for one. */
const column = (rows: readonly (readonly [string, string])[], columns: number): string => {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2
  const indent = ' '.repeat(width + 2)
  // With less than that beside the names, lines that the terminal breaks are easier to read.
  const room = columns - indent.length < LEAST_ROOM ? Infinity : columns
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${wrapped(right, room, indent).trimStart()}\n`).join('')
}

function flagName(name: string, spec: FlagSpec): string {
  if (spec.kind === 'switch') return spec.short === undefined ? `--${name}` : `-${spec.short}, --${name}`
  return spec.kind === 'value' || spec.kind === 'values' ? `--${name} ${spec.value ?? 'VALUE'}` : `--${name}[=${spec.value ?? 'VALUE'}]`
}

const flagRows = (flags: Readonly<Record<string, FlagSpec>>, columns: number): string =>
  column(
    Object.entries({ ...flags, ...COMMON_FLAGS }).map(([name, spec]) => [flagName(name, spec), spec.help]),
    columns,
  )

const positionalsOf = (command: Command): readonly string[] => [...command.positionals, ...(command.optionalPositionals ?? []).map((name) => `[${name}]`)]

export function commandHelp(command: Command, columns = Infinity): string {
  const usage = ['warpwatch', command.name, ...positionalsOf(command), '[flags]'].join(' ')
  return `${usage}\n${command.summary}\n\n${flagRows(command.flags, columns)}`
}

export function overallHelp(commands: readonly Command[], byDefault: Command, columns = Infinity): string {
  return `warpwatch [command] [flags]
The flight recorder for GPU hosts: who holds which GPU, what failed, why, and what to change.

Commands:
${column(
  commands.map((command) => [[command.name, ...positionalsOf(command)].join(' '), command.summary]),
  columns,
)}
Flags of ${byDefault.name}, the default:
${flagRows(byDefault.flags, columns)}
Exit codes: 0 done, 1 the check found something wrong, 2 wrong usage or unreadable input.
`
}
