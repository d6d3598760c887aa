// The two sources that read containers' logs, as the agent runs them: one asks the engine for containers, the other reads what they print.
import { createContainerDirectory } from '../../agent/attribution/directory.ts'
import type { Event, LogLine } from '../../agent/model/event.ts'
import type { Source } from '../../agent/model/source.ts'
import { createContainerLogsSource } from '../../agent/sources/container-logs.ts'
import { createContainersSource } from '../../agent/sources/containers.ts'
import { createContainerWatchList } from '../../agent/sources/containers/watch-list.ts'
import { createCursorStore } from '../../agent/store/cursors.ts'
import { runSource, type RunningSource } from './run-source.ts'

export type ContainerLogs = RunningSource & { readonly close: () => Promise<void> }

const NEEDLE = Buffer.from('FAULT')
const interesting = (bytes: Uint8Array, start: number, end: number): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).includes(NEEDLE)
const quiet = { info: () => {}, warn: () => {}, error: () => {} }

/** `data`: where the cursors are kept. Lines with FAULT matter. */
export function runContainerLogs(
  socketPath: string,
  data: string,
  options: { readonly maxStreams?: number; readonly maxTracked?: number } = {},
): ContainerLogs {
  const { maxStreams = 64, maxTracked = 2_048 } = options
  const watchList = createContainerWatchList()
  const directory = createContainerDirectory()
  const cursors = createCursorStore({ directory: data, log: quiet })
  const parts = [
    createContainersSource({ sockets: [socketPath], cgroupRoot: '/sys/fs/cgroup', procRoot: '/proc', directory, gpus: () => [], watchList }),
    createContainerLogsSource({ watchList, directory, cursors, interesting, maxStreams, maxTracked }),
  ]
  const both: Source = {
    id: 'both',
    metrics: [],
    start: (context) => parts.forEach((part) => void part.start(context)),
    stop: async () => void (await Promise.all(parts.map(async (part) => await part.stop()))),
  }
  const running = runSource(both)
  return {
    ...running,
    close: async () => {
      await running.stop()
      cursors.close()
    },
  }
}

/** What was reported of the container of that name. */
export const linesOf = (events: readonly Event[], name: string): readonly LogLine[] =>
  events.filter((event) => event.type === 'log').filter(({ origin }) => origin.container === name)
export const textOf = (lines: readonly LogLine[]): string => lines.map(({ text }) => text).join('\n')
export const faultsOf = (events: readonly Event[], name: string): readonly string[] => textOf(linesOf(events, name)).match(/FAULT-\w+/g) ?? []
