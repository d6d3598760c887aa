// The help texts, made from what the commands declare.
import { COMMON_FLAGS } from '../arguments.ts'
import type { Command, FlagSpec } from '../command.ts'

const column = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}\n`).join('')
}

function flagName(name: string, spec: FlagSpec): string {
  if (spec.kind === 'switch') return spec.short === undefined ? `--${name}` : `-${spec.short}, --${name}`
  return spec.kind === 'value' || spec.kind === 'values' ? `--${name} ${spec.value ?? 'VALUE'}` : `--${name}[=${spec.value ?? 'VALUE'}]`
}

const flagRows = (flags: Readonly<Record<string, FlagSpec>>): string =>
  column(Object.entries({ ...flags, ...COMMON_FLAGS }).map(([name, spec]) => [flagName(name, spec), spec.help]))

const positionalsOf = (command: Command): readonly string[] => [...command.positionals, ...(command.optionalPositionals ?? []).map((name) => `[${name}]`)]

export function commandHelp(command: Command): string {
  const usage = ['warpwatch', command.name, ...positionalsOf(command), '[flags]'].join(' ')
  return `${usage}\n${command.summary}\n\n${flagRows(command.flags)}`
}

export function overallHelp(commands: readonly Command[], byDefault: Command): string {
  return `warpwatch [command] [flags]
The flight recorder for GPU hosts: who holds which GPU, what failed, why, and what to change.

Commands:
${column(commands.map((command) => [[command.name, ...positionalsOf(command)].join(' '), command.summary]))}
Flags of ${byDefault.name}, the default:
${flagRows(byDefault.flags)}
Exit codes: 0 done, 1 the check found something wrong, 2 wrong usage or unreadable input.
`
}
