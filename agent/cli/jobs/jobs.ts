// `warpwatch jobs [JOB]`: the jobs of this host, now and in the past, or the report of one.
import { jobIdOf } from '../../jobs/identity.ts'
import { runLine } from '../../jobs/line.ts'
import { JOB_GROUPS, type JobGroup } from '../../model/job.ts'
import { near } from '../../lib/nearest.ts'
import { parseDuration } from '../../text/duration.ts'
import { UsageError, type Arguments, type Command } from '../command.ts'
import { CONFIG_FLAG, isLoaded, problemLines, settingsFor } from '../config/settings.ts'
import { isColoured, painter } from '../paint.ts'
import { plain } from '../plain.ts'
import { openJobs } from './from.ts'
import { WASTE_GROUPS } from '../../model/ledger.ts'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 1_000
const DAY_MS = 86_400_000
const isGroup = (text: string): text is JobGroup => JOB_GROUPS.some((group) => group === text)

type Wanted = { readonly since?: number; readonly limit: number; readonly by?: JobGroup }
function wantedOf({ flags }: Arguments): Wanted {
  const [since, by, limit] = [flags.get('since'), flags.get('by'), flags.get('limit')]
  const span = typeof since === 'string' ? parseDuration(since) : undefined
  if (typeof since === 'string' && (span === undefined || span <= 0))
    throw new UsageError(`jobs: --since: must be a time span such as 7d or 12h, not ${JSON.stringify(since)}`)
  if (typeof by === 'string' && !isGroup(by)) {
    const meant = near(by, JOB_GROUPS)
    throw new UsageError(`jobs: --by: must be one of ${JOB_GROUPS.join(', ')}${meant === undefined ? '' : ` (${meant}?)`}, not ${JSON.stringify(by)}`)
  }
  if (typeof limit === 'string' && !(/^\d{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= MAX_LIMIT))
    throw new UsageError(`jobs: --limit: must be a whole number from 1 to ${MAX_LIMIT}, not ${JSON.stringify(limit)}`)
  return {
    ...(span === undefined ? {} : { since: Date.now() - span }),
    ...(typeof by === 'string' && isGroup(by) ? { by } : {}),
    limit: typeof limit === 'string' ? Number(limit) : DEFAULT_LIMIT,
  }
}

export const jobs: Command = {
  name: 'jobs',
  summary: 'lists jobs: how each run ended, GPU hours used and lost, energy; or shows the report of one',
  positionals: [],
  optionalPositionals: ['JOB'],
  flags: {
    ...CONFIG_FLAG,
    listen: { kind: 'value', value: 'ADDRESS:PORT', help: 'where the agent listens (default: 127.0.0.1:9839)' },
    'data-dir': { kind: 'value', value: 'DIR', help: 'where jobs are stored; read when the agent does not run' },
    since: { kind: 'value', value: 'SPAN', help: 'only runs of the last 7d, 12h, …' },
    by: { kind: 'value', value: 'WHAT', help: `sums by ${JOB_GROUPS.join(', ')}; a container, service or pod is a job` },
    waste: { kind: 'switch', help: 'GPU time that was held and idle, or lost, by user, or by what --by says (of the last day unless --since is given)' },
    limit: { kind: 'value', value: 'N', help: `at most so many jobs, the newest (default: ${DEFAULT_LIMIT})` },
    line: { kind: 'switch', help: 'print JOB in one line, for an epilog; slurm:ID names a job of Slurm' },
    csv: { kind: 'switch', help: 'print CSV' },
    json: { kind: 'switch', help: 'print JSON' },
    markdown: { kind: 'switch', help: 'print the report of JOB to paste into a ticket' },
  },
  async run(args, io) {
    const { by, since, limit } = wantedOf(args)
    const [named] = args.positionals
    const job = named === undefined ? undefined : (jobIdOf(named) ?? named)
    const asLine = args.flags.has('line')
    const [asCsv, asJson] = [args.flags.has('csv'), args.flags.has('json')]
    if (asCsv && asJson) throw new UsageError('jobs: give --csv or --json, not both')
    const asWaste = args.flags.has('waste')
    if (asWaste && job !== undefined) throw new UsageError(`jobs: --waste is a list of its own: leave out ${JSON.stringify(named)}`)
    const group = WASTE_GROUPS.find((each) => each === (by ?? 'user'))
    if (asWaste && group === undefined) throw new UsageError(`jobs: --waste is by ${WASTE_GROUPS.join(', ')}, not by ${by}`)
    if (job === undefined && asLine) throw new UsageError('jobs: --line: the job is missing. List them: warpwatch jobs')
    if (job === undefined && args.flags.has('markdown')) throw new UsageError('jobs: --markdown: the job is missing. List them: warpwatch jobs')
    if (job !== undefined && (by !== undefined || asCsv))
      throw new UsageError(`jobs: --${by === undefined ? 'csv' : 'by'} is for the list: leave out ${JSON.stringify(job)}`)
    const loaded = await settingsFor(args, io, { detectors: false })
    if (!isLoaded(loaded)) {
      io.err(problemLines(loaded))
      return 2
    }
    const reader = await openJobs(loaded.config)
    try {
      if (job !== undefined) {
        const [newest, ...before] = await reader.runs(job)
        if (newest === undefined) throw new UsageError(`No job ${JSON.stringify((named ?? '').slice(0, 80))} in ${reader.from}. List them: warpwatch jobs`)
        io.out(
          asJson
            ? `${JSON.stringify([newest, ...before])}\n`
            : asLine
              ? `${plain(runLine(newest))}\n`
              : args.flags.has('markdown')
                ? plain((await import('../../jobs/report.ts')).jobReport([newest, ...before], loaded.config.host_name, reader.now?.()))
                : (await import('./page.ts')).jobPage([newest, ...before], loaded.config.host_name, {
                    paint: painter(isColoured(io.env)),
                    columns: io.columns,
                    now: reader.now?.(),
                  }),
        )
        return 0
      }
      if (asWaste) {
        const { wasteCsv, wasteText } = await import('./waste.ts')
        const summary = await reader.waste(since ?? Date.now() - DAY_MS, group ?? 'user')
        io.out(asJson ? `${JSON.stringify(summary)}\n` : asCsv ? wasteCsv(summary, group) : wasteText(summary, reader.from, { by: group, columns: io.columns }))
        return 0
      }
      const { groupsCsv, groupsText, jobsCsv, jobsText } = await import('./tables.ts')
      const span = since === undefined ? {} : { since }
      if (by !== undefined) {
        const groups = await reader.groups(by, span)
        io.out(asJson ? `${JSON.stringify(groups)}\n` : asCsv ? groupsCsv(groups, by) : groupsText(groups, reader.from, { columns: io.columns }))
        return 0
      }
      const found = await reader.list({ ...span, limit })
      const text = async (): Promise<string> => jobsText(found, reader.from, { columns: io.columns, now: reader.now?.(), progress: await reader.progress() })
      io.out(
        asJson
          ? `${JSON.stringify(found)}
`
          : asCsv
            ? jobsCsv(found)
            : await text(),
      )
      return 0
    } finally {
      reader.close()
    }
  },
}
