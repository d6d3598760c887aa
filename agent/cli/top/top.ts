// `warpwatch top`: what runs on the GPUs, live in the terminal: of an agent, a recording, or a simulated host.
import { accessSync, constants, statSync } from 'node:fs'
import { isLoopback, localUrl } from '../../config/listen.ts'
import type { Config } from '../../config/schema.ts'
import { messageOf } from '../../text/error.ts'
import type { HostConfig } from '../../config/sections/hosts.ts'
import { UsageError, type Arguments, type Command, type Io } from '../command.ts'
import { CONFIG_FLAG, isLoaded, problemLines, SETTING_FLAGS, settingsFor } from '../config/settings.ts'
import type { Feed, FeedEvents } from './feeds/feed.ts'
import { hostsNamed } from './feeds/targets.ts'
import { createHostState } from './host-state.ts'
import { capabilitiesOf, type Capabilities } from './terminal/look.ts'
import { createScreen } from './terminal/screen.ts'
import { START } from './ui.ts'
import { drawHost, sectionsOf } from './view.ts'

const ONCE_COLUMNS = 120
const FIRST_WITHIN_MS = 10_000

async function openFeed(args: Arguments, config: Config, events: FeedEvents, failed: (error: unknown) => void): Promise<Feed> {
  const [file] = args.positionals
  if (file !== undefined) {
    const { playRecording } = await import('./feeds/recording.ts')
    return playRecording({ file, speed: args.flags.has('once') ? Infinity : 1, failed, ended: () => events.lost('the recording has ended') }, events)
  }
  if (args.flags.has('simulate')) return (await import('./feeds/simulated.ts')).startSimulated(config, events)
  const { openStream } = await import('./feeds/stream.ts')
  return openStream({ url: localUrl(config.http.listen), token: config.http.token, isLocal: isLoopback(config.http.listen) }, events)
}

function checkUsage({ flags, positionals: [file] }: Arguments): void {
  if (file === undefined) return
  const other = ['simulate', 'listen', 'hosts'].find((flag) => flags.has(flag))
  if (other !== undefined) throw new UsageError(`top: --${other} and a recording exclude each other: leave out one`)
  try {
    accessSync(file, constants.R_OK)
    if (statSync(file).isDirectory()) throw new Error(`${file} is a directory`)
  } catch (error) {
    throw new UsageError(`top: the recording cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

/** As high as all rows need. */
function page(state: ReturnType<typeof createHostState>, capabilities: Capabilities, coloured: boolean): string {
  const rows = sectionsOf(state, capabilities).reduce((sum, section) => sum + section.rows.length + 1, 2)
  const screen = createScreen(process.stdout.isTTY ? process.stdout.columns : ONCE_COLUMNS, rows, capabilities)
  drawHost(screen, state, START, new Map(), capabilities, Date.now())
  return `${screen.lines(coloured).slice(0, -1).join('\n')}\n`
}

async function topOfHosts(configs: readonly HostConfig[], capabilities: Capabilities, once: boolean, io: Io): Promise<number> {
  const { createHosts } = await import('./hosts-view.ts')
  let changed = (): void => {}
  const hosts = createHosts(configs, () => changed())
  try {
    if (once) {
      const { promise, resolve } = Promise.withResolvers<void>()
      changed = () => (hosts.complete() ? resolve() : undefined)
      changed()
      await promise
      const screen = createScreen(process.stdout.isTTY ? process.stdout.columns : ONCE_COLUMNS, hosts.rows() + 3, capabilities)
      hosts.draw(screen, { ...START, focus: 'hosts' }, new Map())
      io.out(
        `${screen
          .lines(process.stdout.isTTY && capabilities.depth !== 'none')
          .slice(0, -1)
          .join('\n')}\n`,
      )
      return 0
    }
    const { runApp } = await import('./app.ts')
    const app = runApp({ state: hosts.opened, capabilities, isLocal: () => false, hosts })
    ;({ changed } = app)
    return await app.ended
  } finally {
    hosts.close()
  }
}

export const top: Command = {
  name: 'top',
  summary: 'shows GPUs, jobs, processes, servers and incidents live in the terminal, from the agent or a RECORDING',
  positionals: [],
  optionalPositionals: ['RECORDING'],
  flags: {
    ...CONFIG_FLAG,
    listen: { kind: 'value', value: 'ADDRESS:PORT', help: 'where the agent listens (default: 127.0.0.1:9839)' },
    simulate: { kind: 'optional-value', value: 'SCENARIO', help: SETTING_FLAGS['simulate']?.help ?? 'a simulated host' },
    hosts: { kind: 'value', value: 'A,B', help: 'several hosts: names from the configuration, addresses of agents, ssh://USER@HOST, or all' },
    once: { kind: 'switch', help: 'print it once, for scripts' },
  },
  async run(args, io) {
    checkUsage(args)
    const once = args.flags.has('once')
    if (!once && !(process.stdin.isTTY && process.stdout.isTTY)) throw new UsageError('top: needs a terminal; for scripts: warpwatch top --once')
    const loaded = await settingsFor(args, io)
    if (!isLoaded(loaded)) {
      io.err(problemLines(loaded))
      return 2
    }
    const { config } = loaded
    const capabilities = capabilitiesOf(io.env)
    const several = args.flags.get('hosts')
    if (typeof several === 'string') return topOfHosts(hostsNamed(several, config.hosts), capabilities, once, io)
    const state = createHostState(config.host_name)
    let changed = (): void => {}
    const first = Promise.withResolvers<string | undefined>()
    const events: FeedEvents = {
      message(message) {
        state.take(message, Date.now())
        if (message.type === 'frame' && args.positionals.length === 0) first.resolve(undefined)
        changed()
      },
      lost(problem) {
        state.lost(problem)
        first.resolve(state.frame() === undefined ? problem : undefined)
        changed()
      },
    }
    const failed = Promise.withResolvers<never>()
    const feed = await openFeed(args, config, events, failed.reject)
    try {
      if (once) {
        const late = setTimeout(() => first.resolve(`no figures came within ${FIRST_WITHIN_MS / 1_000} s`), FIRST_WITHIN_MS)
        const problem = await Promise.race([first.promise, failed.promise])
        clearTimeout(late)
        if (problem !== undefined) throw new UsageError(`top: ${localUrl(config.http.listen)}: ${problem}`)
        io.out(page(state, capabilities, process.stdout.isTTY && capabilities.depth !== 'none'))
        return 0
      }
      const { runApp } = await import('./app.ts')
      const app = runApp({ state: () => state, capabilities, isLocal: () => feed.isLocal && !state.simulated() })
      ;({ changed } = app)
      try {
        return await Promise.race([app.ended, failed.promise])
      } finally {
        app.end()
      }
    } catch (error) {
      if (error instanceof Error && error.name === 'RecordingError')
        throw new UsageError(`top: ${args.positionals[0] ?? ''}: ${error.message}`, { cause: error })
      throw error
    } finally {
      await feed.close()
    }
  },
}
