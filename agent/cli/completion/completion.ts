// `warpwatch completion SHELL`: completion of commands and flags for a shell, made from what the commands declare.
import { near } from '../../lib/nearest.ts'
import { UsageError, type Command } from '../command.ts'
import { COMMANDS } from '../index.ts'
import { bash, fish, zsh, type Shell } from './shells.ts'

const SHELLS: Readonly<Record<string, Shell>> = { bash, zsh, fish }

export const completion: Command = {
  name: 'completion',
  summary: 'prints a completion script for bash, zsh or fish',
  positionals: ['SHELL'],
  flags: {},
  async run({ positionals: [shell = ''] }, io) {
    const write = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined
    if (write === undefined) {
      const meant = near(shell, Object.keys(SHELLS))
      throw new UsageError(
        `completion: must be ${Object.keys(SHELLS).join(', ')}, not ${JSON.stringify(shell.slice(0, 60))}${meant === undefined ? '' : `. Did you mean ${meant}?`}`,
      )
    }
    io.out(write(await Promise.all(Object.values(COMMANDS).map((load) => load()))))
    return 0
  },
}
