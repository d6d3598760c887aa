// The runs of one job, to be read or pasted into a ticket: what came of the newest run and why, what it used and what was lost, and the runs before it.
import type { Run } from '../model/job.ts'
import { memoryText } from '../text/bytes.ts'
import { counted, grouped } from '../text/grammar.ts'
import { code, prose, table } from '../text/markdown.ts'
import { gpuTimeText, twoUnitSpan } from '../text/span.ts'
import { isoText } from '../text/time.ts'
import { energyText, outcomeText } from '../text/job.ts'

const MAX_RUNS = 20
const GIB_HOUR = 2 ** 30 * 3_600
const figure = (value: number): string => value.toFixed(value < 10 ? 2 : 1)

/** How text from outside is written: `code` word for word, `prose` within our own words. */
export type Markup = { readonly code: (text: string) => string; readonly prose: (text: string) => string; readonly moment: (ms: number) => string }
type Rows = readonly (readonly [name: string, text: string])[]
export type ReportPart =
  | { readonly kind: 'rows'; readonly title?: string; readonly rows: Rows }
  | { readonly kind: 'table'; readonly title?: string; readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'incidents'; readonly title: string; readonly incidents: Run['incidents'] }
export type Report = { readonly title: string; readonly summary: string; readonly parts: readonly ReportPart[] }

function facts(run: Run, host: string, { code, prose, moment }: Markup): Rows {
  const { job_id: id, kind, user, uid, container, image, namespace, slurm_job: slurm, unit, pid, command, started_at: startedAt, ended_at: endedAt } = run
  const row = (name: string, value: string | undefined): Rows => (value === undefined ? [] : [[name, value]])
  return [
    ['Job', `${code(id)} (${kind}), run ${run.run}`],
    ['Outcome', run.outcome === undefined ? 'still running' : outcomeText(run.outcome)],
    ...row('Why', run.reason === undefined ? undefined : prose(run.reason)),
    ...row('Signal sent by', run.sent_by),
    ['Host', code(host)],
    ...row('User', user === undefined ? undefined : `${code(user)}${uid === undefined ? '' : `, uid ${uid}`}`),
    ...row('Container', container === undefined ? undefined : code(container) + (image === undefined ? '' : ` of ${code(image)}`)),
    ...row('Namespace', namespace === undefined ? undefined : code(namespace)),
    ...row('Slurm job', slurm === undefined ? undefined : code(slurm)),
    ...row('Account', run.account === undefined ? undefined : code(run.account)),
    ...row('Partition', run.partition === undefined ? undefined : code(run.partition)),
    ...row('Time limit', run.time_limit_seconds === undefined ? undefined : twoUnitSpan(run.time_limit_seconds * 1_000)),
    ...row('GPUs asked for', run.gpus_requested === undefined ? undefined : String(run.gpus_requested)),
    ...row('Unit', unit === undefined ? undefined : code(unit)),
    ...row('Command', command === undefined ? undefined : `${code(command)}${pid === undefined ? '' : `, pid ${pid}`}`),
    ['Started', run.started_before === true ? `before ${moment(startedAt)}` : moment(startedAt)],
    ...row('Saved its state', run.saved_at === undefined ? undefined : savedText(run, run.saved_at, moment)),
    ...row('Ended', endedAt === undefined ? undefined : `${moment(endedAt)}, after ${twoUnitSpan(endedAt - startedAt)}`),
  ]
}

const savedText = ({ ended_at: endedAt }: Run, savedAt: number, moment: Markup['moment']): string =>
  `last at ${moment(savedAt)}${endedAt === undefined ? '' : `, ${twoUnitSpan(Math.max(0, endedAt - savedAt))} before the end`}`

function used(run: Run): Rows {
  const { gpu_seconds: seconds, energy_joules: joules, memory_peak_bytes: memory, gpu_memory_peak_bytes: gpuMemory, gpus, tokens } = run
  const held = gpus.reduce((sum, { memory_byte_seconds: of = 0 }) => sum + of, 0)
  return [
    ...(gpus.length === 0
      ? []
      : [
          ['GPU time with work', gpuTimeText(seconds.active)] as const,
          ['GPU time held without work', gpuTimeText(seconds.idle)] as const,
          ...(seconds.lost === 0
            ? []
            : [
                [
                  `Lost: since the ${run.saved_at === undefined ? 'start, as no saved state was seen' : 'last saved state'}`,
                  gpuTimeText(seconds.lost),
                ] as const,
              ]),
          ...(seconds.lost === 0 || run.saved_at === undefined
            ? []
            : [['Would have been lost without the saved state', gpuTimeText(seconds.active + seconds.idle)] as const]),
        ]),
    ...(joules === undefined ? [] : [['Energy', energyText(joules)] as const]),
    ...(gpuMemory === undefined ? [] : [['Highest GPU memory', memoryText(gpuMemory)] as const]),
    ...(held === 0 ? [] : [['GPU memory, times how long it was held', `${figure(held / GIB_HOUR)} GiB h`] as const]),
    ...(tokens === undefined ? [] : [['Tokens processed', grouped(tokens)] as const]),
    ...(memory === undefined ? [] : [['Highest host memory', memoryText(memory)] as const]),
  ]
}

/** `runs`: the newest first; there is at least one. `now`: while an agent runs, what runs has lasted until then. */
export function reportOf(runs: readonly [Run, ...Run[]], host: string, markup: Markup, now?: number): Report {
  const [run, ...before] = runs
  const { code, prose, moment } = markup
  const figures = used(run)
  const gpuRows = run.gpus.map(({ gpu, uuid, gi, share, held_seconds: held, active_seconds: active, memory_peak_bytes: peak }) => [
    `${gpu}${gi === undefined ? '' : `, MIG ${gi}`} (${code(uuid)})`,
    twoUnitSpan(held * 1_000),
    `${Math.round(share * 100)} %`,
    active === undefined ? 'not known' : twoUnitSpan(active * 1_000),
    peak === undefined ? 'not known' : memoryText(peak),
  ])
  const earlier = before
    .slice(0, MAX_RUNS)
    .map((one) => [
      String(one.run),
      moment(one.started_at),
      twoUnitSpan((one.ended_at ?? one.seen_at) - one.started_at),
      one.outcome === undefined ? 'running' : outcomeText(one.outcome),
      prose(one.reason ?? ''),
      one.gpu_seconds.lost === 0 ? '' : gpuTimeText(one.gpu_seconds.lost),
    ])
  return {
    title: `${prose(run.job)}: ${run.outcome === undefined ? 'running' : outcomeText(run.outcome)}`,
    summary: prose(run.reason ?? `Running for ${twoUnitSpan((now ?? run.seen_at) - run.started_at)}.`),
    parts: [
      { kind: 'rows', rows: facts(run, host, markup) },
      ...(figures.length === 0 ? [] : [{ kind: 'rows', title: 'What it used', rows: figures } as const]),
      ...(gpuRows.length === 0 ? [] : [{ kind: 'table', head: ['GPU', 'Held', 'Share', 'With work', 'Highest memory'], rows: gpuRows } as const]),
      ...(run.incidents.length === 0 ? [] : [{ kind: 'incidents', title: 'Incidents', incidents: run.incidents } as const]),
      ...(earlier.length === 0
        ? []
        : [
            {
              kind: 'table',
              title: counted(before.length, 'earlier run'),
              head: ['Run', 'Started', 'Lasted', 'Outcome', 'Why', 'GPU time lost'],
              rows: earlier,
            } as const,
          ]),
    ],
  }
}

/** As Markdown. */
export function jobReport(runs: readonly [Run, ...Run[]], host: string, now?: number): string {
  const { title, summary, parts } = reportOf(runs, host, { code, prose, moment: isoText }, now)
  const body = (part: ReportPart): string =>
    part.kind === 'rows'
      ? table(['', ''], part.rows)
      : part.kind === 'table'
        ? table(part.head, part.rows)
        : part.incidents.map(({ id, kind, title: what }) => `- ${prose(what)} (${kind}): ${code(`warpwatch incidents ${id}`)}`).join('\n')
  const sections = parts.flatMap((part) => [...(part.title === undefined ? [] : [`## ${part.title}`]), body(part)])
  return `${[`# ${title}`, summary, ...sections].join('\n\n')}\n`
}
