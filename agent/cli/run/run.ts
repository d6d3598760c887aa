// `warpwatch run`: the agent, until a signal ends it.
import { setFlagsFromString } from 'node:v8'
import { createLogger, type Logger } from '../../lib/log.ts'
import type { Log } from '../../model/source.ts'
import { type Arguments, type Command, type Io } from '../command.ts'
import { watchHangups, type Hangups } from './hangups.ts'
import { CONFIG_FLAG, isLoaded, problemLines, SETTING_FLAGS, settingsFor, warningLines } from '../config/settings.ts'
import { startLines } from './start-lines.ts'
import { CHILD_FLAGS, dropPrepared, prepareChild } from '../../sampler/child-process.ts'
import { CHILD_ENTRY } from '../../sampler/entry.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { messageOf } from '../../text/error.ts'

/**
 * V8's last compiler begins with a function's 60,000th call in place of its 3,000th: most of what runs once a second would never give back what compiling it costs, and
 * long loops are compiled while they run in any case (see docs/measurements.md). Not on the command line: scripts/node-flags.mjs.
 */
const FLAG_WHILE_RUNNING = '--invocation-count-for-turbofan=60000'

/** One Ctrl-C can come twice, from the terminal and passed on by npm; a person's second comes later. */
const SAME_SIGNAL_MS = 300
/** After all was stopped nothing is left to wait for: what keeps the process alive is a mistake. */
const LEFT_OPEN_MS = 5_000

type Say = (text: string) => void

/** Resolves at the first SIGINT or SIGTERM; the second ends the process at once. */
async function stopSignal(say: Say): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked: number | undefined
    const on = (signal: NodeJS.Signals): void => {
      if (asked !== undefined && performance.now() - asked < SAME_SIGNAL_MS) return
      if (asked !== undefined) process.exit(signal === 'SIGINT' ? 130 : 143)
      asked = performance.now()
      say(`${signal}: stopping (once more ends at once)`)
      resolve(signal)
    }
    process.on('SIGINT', on)
    process.on('SIGTERM', on)
  })
}

/** What is for a person at the terminal goes as plain lines, unless stderr is to be read by a program. */
const plainOr = (logger: Logger, plain: Say): Say => {
  const log = logger.part('agent')
  return (text) => (logger.format() === 'json' ? log.info(text) : plain(text))
}

/** Whoever stopped the agent waits for its end, and what was left open is let go with it. */
function endAnyway(log: Log): void {
  setTimeout(() => {
    log.warn(`stopped, but still open after ${LEFT_OPEN_MS / 1_000} s: ${process.getActiveResourcesInfo().join(', ')}; ending all the same`)
    process.exit(0)
  }, LEFT_OPEN_MS).unref()
}

type Start = { readonly args: Arguments; readonly io: Io; readonly hangups: Hangups; readonly logger: Logger }

async function runAgent({ config }: LoadedConfig, { args, io, hangups, logger }: Start): Promise<number> {
  const log = logger.part('agent')
  const stopped = stopSignal(plainOr(logger, (text) => io.err(`warpwatch: ${text}\n`)))
  const recording = args.flags.get('record')
  const record = typeof recording === 'string' ? recording : undefined
  // The sampler boots while this process loads the rest.
  if (config.simulate.scenario === 'off' && config.gpu.source !== 'off' && config.gpu.source !== 'nvidia-smi')
    prepareChild({ entry: CHILD_ENTRY, execArgv: CHILD_FLAGS, env: process.env })
  const { startAgent } = await import('../../agent.ts')
  let agent: Awaited<ReturnType<typeof startAgent>>
  try {
    agent = await startAgent(config, { logger, read: async () => settingsFor(args, io), ...(record === undefined ? {} : { record }) })
  } catch (error) {
    const text = `cannot start: ${messageOf(error)}`
    if (logger.format() === 'json') log.error(text)
    else io.err(`warpwatch: ${text}\n`)
    return 1
  } finally {
    dropPrepared()
  }
  setFlagsFromString(FLAG_WHILE_RUNNING)
  hangups.onHangup(() => {
    log.debug?.('SIGHUP: reading the configuration again')
    void agent.reload().catch((error: unknown) => log.error(`the configuration was not reloaded: ${messageOf(error)}`))
  })
  const line = plainOr(logger, (text) => io.err(`${text}\n`))
  for await (const text of startLines(config, agent, record, stopped)) line(text)
  await stopped
  await agent.stop()
  endAnyway(log)
  return 0
}

export const run: Command = {
  name: 'run',
  summary: 'the agent (the default command)',
  positionals: [],
  flags: {
    ...CONFIG_FLAG,
    ...SETTING_FLAGS,
    record: { kind: 'value', value: 'FILE', help: 'append everything the agent sees to a recording' },
  },
  async run(args, io) {
    const hangups = watchHangups()
    const loaded = await settingsFor(args, io)
    if (!isLoaded(loaded)) {
      io.err(problemLines(loaded))
      return 2
    }
    const logger = createLogger(loaded.config.log)
    const log = logger.part('config')
    if (loaded.config.log.format === 'json') for (const { where, text } of loaded.warnings) log.warn(`${where}: ${text}`)
    else io.err(warningLines(loaded.warnings))
    log.debug?.(
      `read from ${[loaded.file ?? 'no file', ...loaded.origins].map((part) => (typeof part === 'string' ? part : `${part[0]} (${part[1]})`)).join(', ')}`,
    )
    // Everything that the agent writes is private, also what a later version writes. Sockets that others may use get their rights explicitly.
    process.umask(0o077)
    return runAgent(loaded, { args, io, hangups, logger })
  },
}
