// `warpwatch version`: what exactly runs here, for a ticket. `--version` prints the number alone, for scripts.
import { COMMIT, NODE_VERSION, VERSION } from '../lib/version.ts'
import type { Command } from './command.ts'

export const version: Command = {
  name: 'version',
  summary: 'prints the version, the commit it was built from, and the version of Node',
  positionals: [],
  flags: { json: { kind: 'switch', help: 'print JSON' } },
  async run({ flags }, io) {
    const platform = `${process.platform} ${process.arch}`
    if (flags.has('json')) io.out(`${JSON.stringify({ version: VERSION, commit: COMMIT, node: NODE_VERSION, platform })}\n`)
    else io.out(`warpwatch ${VERSION} (commit ${COMMIT}, Node ${NODE_VERSION}, ${platform})\n`)
    return 0
  },
}
