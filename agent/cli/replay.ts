// `warpwatch replay FILE`: reads a recording at full speed and tells what it holds.
import { accessSync, constants, statSync } from 'node:fs'
import { messageOf, UsageError, type Command } from './command.ts'
import { createSummary, type Summary } from './replay-summary.ts'

function assertReadable(file: string): void {
  try {
    accessSync(file, constants.R_OK)
    if (statSync(file).isDirectory()) throw new Error(`${file} is a directory`)
  } catch (error) {
    throw new UsageError(`replay: expected a recording that can be read, came: ${messageOf(error)}`, { cause: error })
  }
}

async function summarize(file: string): Promise<Summary> {
  assertReadable(file)
  const [{ readRecording, RecordingError }, { metricNamed }] = await Promise.all([import('../sources/recording.ts'), import('../catalogue.ts')])
  const recording = readRecording(file, { metricNamed })
  const summary = createSummary()
  try {
    for await (const event of recording) summary.add(event)
  } catch (error) {
    if (error instanceof RecordingError) throw new UsageError(`replay: ${file}: ${error.message}`, { cause: error })
    throw error
  }
  const counts = recording.counts()
  if (summary.events() === 0 && recording.host() === undefined) {
    throw new UsageError(
      `replay: ${file}: expected a recording (JSON Lines, the first of them "type":"meta"), came ${counts.lines} lines of which none is one of its events`,
    )
  }
  return summary.finish(recording.host(), counts)
}

export const replay: Command = {
  name: 'replay',
  summary: 'judges a recording again, at full speed',
  positionals: ['FILE'],
  flags: { json: { kind: 'switch', help: 'print {"incidents":[…],"forecasts":[…]}' } },
  async run(args, io) {
    const summary = await summarize(args.positionals[0] ?? '')
    // Nothing judges yet: both lists are what this version finds.
    io.out(args.flags.has('json') ? `${JSON.stringify({ incidents: [], forecasts: [] })}\n` : summary.text)
    if (summary.skipped !== '') io.err(`warpwatch: replay: ${summary.skipped}\n`)
    return 0
  },
}
