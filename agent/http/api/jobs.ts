// The jobs of the API: a bounded list, what groups of them used, the runs of one, and its report in Markdown or in one line. `warpwatch exec` reports its command here.
import type { Context, Hono } from 'hono'
import { reply, type Reply } from '../compress.ts'
import type { ExecEvent } from '../../model/event.ts'
import { JOB_GROUPS, type JobFilter, type JobGroup, type JobsView, type Run } from '../../model/job.ts'
import { WASTE_GROUPS, type WasteGroup, type WasteSummary } from '../../model/ledger.ts'
import type { Answers } from './incidents.ts'

export type JobApi = {
  readonly view: JobsView
  readonly report: (runs: readonly [Run, ...Run[]]) => string
  /** What it used, in one line. */
  readonly line: (run: Run) => string
  /** The id of a job as people write it: itself, or `slurm:4711`. */
  readonly idOf: (text: string) => string | undefined
  /** What was held and not used between two times, Unix ms. */
  readonly waste: (from: number, to: number, by?: WasteGroup) => WasteSummary
  /** `warpwatch exec` says that its command began or ended. */
  readonly record: (event: ExecEvent) => Run | undefined
  /** Sends what became of a run to a notifier; returns why not. */
  readonly send: (run: Run, notifier: string) => string | undefined
}

export const DEFAULT_JOBS = 100
export const MAX_JOBS = 1_000
const RUNS = 100
const MAX_DAYS = 31
const DAY_MS = 86_400_000
const NAMES = ['since', 'limit', 'by'] as const
const quoted = (text: string): string => JSON.stringify(text.slice(0, 100))
const isWasteGroup = (text: string): text is WasteGroup => WASTE_GROUPS.some((group) => group === text)
const isGroup = (text: string): text is JobGroup => JOB_GROUPS.some((group) => group === text)

export function parseJobQuery(search: URLSearchParams): { readonly filter: JobFilter; readonly by?: JobGroup } | { readonly problem: string } {
  for (const name of search.keys()) {
    if (!NAMES.some((known) => known === name)) return { problem: `${name.slice(0, 50)}: unknown parameter; there are ${NAMES.join(', ')}` }
    if (search.getAll(name).length > 1) return { problem: `${name}: is given ${search.getAll(name).length} times: give it once` }
  }
  const [since, limit, by] = [search.get('since'), search.get('limit'), search.get('by')]
  if (since !== null && !/^\d{1,15}$/.test(since)) return { problem: `since: must be a time in Unix milliseconds, not ${quoted(since)}` }
  if (limit !== null && !(/^\d{1,4}$/.test(limit) && Number(limit) >= 1 && Number(limit) <= MAX_JOBS))
    return { problem: `limit: must be a whole number from 1 to ${MAX_JOBS}, not ${quoted(limit)}` }
  if (by !== null && !isGroup(by)) return { problem: `by: must be one of ${JOB_GROUPS.join(', ')}, not ${quoted(by)}` }
  return {
    filter: { ...(since === null ? {} : { since: Number(since) }), limit: limit === null ? DEFAULT_JOBS : Number(limit) },
    ...(by !== null && isGroup(by) ? { by } : {}),
  }
}

export function addJobs(app: Hono, { view, waste, report, line, idOf, record, send }: JobApi, { answer, refuse }: Answers): void {
  const withRuns = (c: Context, use: (runs: readonly [Run, ...Run[]]) => Reply): Reply => {
    const id = c.req.param('id') ?? ''
    const known = idOf(id)
    const [newest, ...before] = known === undefined ? [] : view.runs(known, RUNS)
    return newest === undefined ? refuse(c, { code: 'not_found', message: `no job ${quoted(id)}; /api/v1/jobs lists them` }) : use([newest, ...before])
  }
  app.get('/api/v1/jobs', (c) => {
    const parsed = parseJobQuery(new URL(c.req.url).searchParams)
    if ('problem' in parsed) return refuse(c, { code: 'bad_request', message: parsed.problem })
    const { filter, by } = parsed
    return answer(c, by === undefined ? view.list(filter) : view.groups(by, filter))
  })
  app.get('/api/v1/usage/waste', (c) => {
    const { searchParams: search } = new URL(c.req.url)
    const [days, since, to] = [search.get('days'), search.get('since'), Date.now()]
    const by = search.get('by') ?? 'user'
    if (!isWasteGroup(by)) return refuse(c, { code: 'bad_request', message: `by: must be one of ${WASTE_GROUPS.join(', ')}, not ${quoted(by)}` })
    if (days !== null && since !== null) return refuse(c, { code: 'bad_request', message: 'give days or since, not both' })
    if (since !== null && !(/^\d{1,15}$/.test(since) && Number(since) < to && Number(since) >= to - MAX_DAYS * DAY_MS))
      return refuse(c, { code: 'bad_request', message: `since: must be a time of the last ${MAX_DAYS} days in Unix milliseconds, not ${quoted(since)}` })
    if (days !== null && !(/^\d{1,2}$/.test(days) && Number(days) >= 1 && Number(days) <= MAX_DAYS))
      return refuse(c, { code: 'bad_request', message: `days: must be a whole number from 1 to ${MAX_DAYS}, not ${quoted(days)}` })
    return answer(c, waste(since === null ? to - Number(days ?? '1') * DAY_MS : Number(since), to, by))
  })
  app.get('/api/v1/jobs/:id', (c) => withRuns(c, (runs) => answer(c, runs)))
  app.get('/api/v1/jobs/:id/report', (c) =>
    withRuns(c, (runs) =>
      reply(c, report(runs), { 'Content-Type': 'text/markdown; charset=utf-8', 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }),
    ),
  )
  // For the epilog of a scheduler: a request by curl takes a tenth of the CPU time of a command that starts Node.
  app.get('/api/v1/jobs/:id/line', (c) =>
    withRuns(c, ([run]) =>
      reply(c, `${line(run)}\n`, { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }),
    ),
  )
  app.post('/api/v1/jobs/exec', async (c) => {
    const { parseExec } = await import('./job-schemas.ts')
    const parsed = parseExec(await c.req.text(), Date.now())
    if ('problem' in parsed) return refuse(c, { code: 'bad_request', message: parsed.problem })
    const run = record(parsed.value)
    const { notify } = parsed
    const notSent = notify === undefined ? undefined : run === undefined ? 'the agent does not know this run' : send(run, notify)
    return answer(c, { id: parsed.value.id, ...(run === undefined ? {} : { run }), ...(notSent === undefined ? {} : { not_sent: notSent }) })
  })
}
