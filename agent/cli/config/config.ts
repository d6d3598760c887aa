// `warpwatch config`: prints the effective configuration, or what is wrong with it.
import { printable, printYaml } from '../../config/print.ts'
import type { Command } from '../command.ts'
import { CONFIG_FLAG, isLoaded, problemLines, SETTING_FLAGS, settingsFor, warningLines } from './settings.ts'

export const config: Command = {
  name: 'config',
  summary: 'prints the effective configuration, secrets hidden',
  positionals: [],
  flags: {
    ...CONFIG_FLAG,
    ...SETTING_FLAGS,
    check: { kind: 'switch', help: 'only validate: exit 1 when something is wrong' },
    json: { kind: 'switch', help: 'print JSON' },
  },
  async run(args, io) {
    const loaded = await settingsFor(args, io)
    const check = args.flags.has('check')
    const json = args.flags.has('json')
    if (!isLoaded(loaded)) {
      // What --check finds is its result; otherwise the input is unusable.
      if (check && json) io.out(`${JSON.stringify({ ok: false, problems: loaded })}\n`)
      else if (check) io.out(problemLines(loaded))
      else io.err(problemLines(loaded))
      return check ? 1 : 2
    }
    if (!json) io.err(warningLines(loaded.warnings))
    if (check)
      io.out(
        json
          ? `${JSON.stringify({ ok: true, problems: [], warnings: loaded.warnings })}\n`
          : `ok${loaded.file === undefined ? ' (no file, defaults)' : `: ${loaded.file}`}\n`,
      )
    else io.out(json ? `${JSON.stringify(printable(loaded.config), null, 2)}\n` : printYaml(loaded.config, loaded.origins))
    return 0
  },
}
