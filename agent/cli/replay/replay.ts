// `warpwatch replay FILE`: judges a recording again at full speed, and tells what it holds.
import { accessSync, constants, statSync } from 'node:fs'
import { UsageError, type Command } from '../command.ts'
import type { DetectorsConfig } from '../../model/detector-settings.ts'
import type { Incident } from '../../model/incident.ts'
import { messageOf } from '../../text/error.ts'
import type { ForecastRow } from './incidents.ts'
import { createSummary, type Summary } from './summary.ts'
import { CONFIG_FLAG, isLoaded, problemLines, settingsFor } from '../config/settings.ts'

function assertReadable(file: string): void {
  try {
    accessSync(file, constants.R_OK)
    if (statSync(file).isDirectory()) throw new Error(`${file} is a directory`)
  } catch (error) {
    throw new UsageError(`replay: the recording cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

type Judged = Summary & { readonly incidents: readonly Incident[]; readonly forecasts: readonly ForecastRow[]; readonly lines: readonly string[] }

async function judge(file: string, config: DetectorsConfig | undefined): Promise<Judged> {
  assertReadable(file)
  const [{ readRecording, RecordingError }, { metricNamed }, { createReplayJudge, incidentLines }] = await Promise.all([
    import('../../sources/recording.ts'),
    import('../../catalogue.ts'),
    import('./incidents.ts'),
  ])
  const recording = readRecording(file, { metricNamed })
  const summary = createSummary()
  // The host's name comes with the first line.
  let judge: ReturnType<typeof createReplayJudge> | undefined
  try {
    for await (const event of recording) {
      summary.add(event)
      judge ??= createReplayJudge(recording.host() ?? 'host', config)
      judge.add(event)
    }
  } catch (error) {
    if (error instanceof RecordingError) throw new UsageError(`replay: ${file}: ${error.message}`, { cause: error })
    throw error
  }
  const counts = recording.counts()
  if (summary.events() === 0 && recording.host() === undefined) {
    throw new UsageError(
      `replay: ${file}: this is no recording: none of its ${counts.lines} lines is an event (a recording is JSON Lines, the first with "type":"meta")`,
    )
  }
  const incidents = judge?.incidents() ?? []
  return { ...summary.finish(recording.host(), counts), incidents, forecasts: judge?.forecasts() ?? [], lines: incidentLines(incidents) }
}

export const replay: Command = {
  name: 'replay',
  summary: 'evaluates a recording again, at full speed',
  positionals: ['FILE'],
  flags: {
    config: {
      ...CONFIG_FLAG['config'],
      kind: 'value',
      help: 'use the detector settings of this file (default: built-in settings, whatever this machine has)',
    },
    json: { kind: 'switch', help: 'print {"incidents":[…],"forecasts":[…]}' },
  },
  async run(args, io) {
    // Only when it is named: a recording gives the same on every machine.
    const loaded = args.flags.has('config') ? await settingsFor(args, io) : undefined
    if (loaded !== undefined && !isLoaded(loaded)) {
      io.err(problemLines(loaded))
      return 2
    }
    const { incidents, forecasts, lines, text, skipped } = await judge(args.positionals[0] ?? '', loaded?.config.detectors)
    if (args.flags.has('json')) io.out(`${JSON.stringify({ incidents, forecasts })}\n`)
    else io.out(`${text}Incidents ${incidents.length}\n${lines.map((line) => `  ${line}\n`).join('')}`)
    if (skipped !== '') io.err(`warpwatch: replay: ${skipped}\n`)
    return 0
  },
}
