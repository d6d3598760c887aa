// `warpwatch run`: the agent, until a signal ends it.
import type { Config } from '../config/schema.ts'
import { createLog } from '../lib/log.ts'
import { messageOf, type Command, type Io } from './command.ts'
import { CONFIG_FLAG, isLoaded, problemLines, SETTING_FLAGS, settingsFor, warningLines } from './settings.ts'
import { startLines } from './start-lines.ts'

/** One Ctrl-C can come twice, from the terminal and passed on by npm; a person's second comes later. */
const SAME_SIGNAL_MS = 300

/** Resolves at the first SIGINT or SIGTERM; the second ends the process at once. */
async function stopSignal(io: Io): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked: number | undefined
    const on = (signal: NodeJS.Signals): void => {
      if (asked !== undefined && performance.now() - asked < SAME_SIGNAL_MS) return
      if (asked !== undefined) process.exit(signal === 'SIGINT' ? 130 : 143)
      asked = performance.now()
      io.err(`warpwatch: ${signal}: stopping (once more ends at once)\n`)
      resolve(signal)
    }
    process.on('SIGINT', on)
    process.on('SIGTERM', on)
  })
}

async function runAgent(config: Config, record: string | undefined, io: Io): Promise<number> {
  const stopped = stopSignal(io)
  const { startAgent } = await import('../agent.ts')
  let agent: Awaited<ReturnType<typeof startAgent>>
  try {
    agent = await startAgent(config, { log: createLog('agent', config.log.level), ...(record === undefined ? {} : { record }) })
  } catch (error) {
    io.err(`warpwatch: cannot start: ${messageOf(error)}\n`)
    return 1
  }
  for await (const line of startLines(config, agent, record, stopped)) io.err(`${line}\n`)
  await stopped
  await agent.stop()
  return 0
}

export const run: Command = {
  name: 'run',
  summary: 'the agent (the default command)',
  positionals: [],
  flags: {
    ...CONFIG_FLAG,
    ...SETTING_FLAGS,
    record: { kind: 'value', value: 'FILE', help: 'write everything that is seen to a recording (appends)' },
  },
  async run(args, io) {
    const loaded = await settingsFor(args, io)
    if (!isLoaded(loaded)) {
      io.err(problemLines(loaded))
      return 2
    }
    io.err(warningLines(loaded.warnings))
    const record = args.flags.get('record')
    return runAgent(loaded.config, typeof record === 'string' ? record : undefined, io)
  },
}
