// The runs of one job as Markdown, to paste into a ticket: what came of the newest run and why, what it used and what was lost, and the runs before it.
import type { Run } from '../model/job.ts'
import { bytesText } from '../text/bytes.ts'
import { counted } from '../text/grammar.ts'
import { code, prose, table } from '../text/markdown.ts'
import { gpuTimeText, twoUnitSpan } from '../text/span.ts'
import { isoText } from '../text/time.ts'
import { energyText, outcomeText } from '../text/job.ts'

const MAX_RUNS = 20
const GIB_HOUR = 2 ** 30 * 3_600
const figure = (value: number): string => value.toFixed(value < 10 ? 2 : 1)

function facts(run: Run, host: string): readonly (readonly [string, string])[] {
  const { job_id: id, kind, user, uid, container, image, namespace, slurm_job: slurm, unit, pid, command, started_at: startedAt, ended_at: endedAt } = run
  const row = (name: string, value: string | undefined): readonly (readonly [string, string])[] => (value === undefined ? [] : [[name, value]])
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
    ['Started', run.started_before === true ? `before ${isoText(startedAt)}` : isoText(startedAt)],
    ...row('Saved its state', run.saved_at === undefined ? undefined : savedText(run, run.saved_at)),
    ...row('Ended', endedAt === undefined ? undefined : `${isoText(endedAt)}, after ${twoUnitSpan(endedAt - startedAt)}`),
  ]
}

const savedText = ({ ended_at: endedAt }: Run, savedAt: number): string =>
  `last at ${isoText(savedAt)}${endedAt === undefined ? '' : `, ${twoUnitSpan(Math.max(0, endedAt - savedAt))} before the end`}`

function used(run: Run): readonly (readonly [string, string])[] {
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
    ...(gpuMemory === undefined ? [] : [['Highest GPU memory', bytesText(gpuMemory)] as const]),
    ...(held === 0 ? [] : [['GPU memory, times how long it was held', `${figure(held / GIB_HOUR)} GiB h`] as const]),
    ...(tokens === undefined ? [] : [['Tokens processed', tokens.toLocaleString('en-US')] as const]),
    ...(memory === undefined ? [] : [['Highest host memory', bytesText(memory)] as const]),
  ]
}

/** `runs`: the newest first; there is at least one. */
export function jobReport(runs: readonly [Run, ...Run[]], host: string): string {
  const [run, ...before] = runs
  const parts = [
    `# ${prose(run.job)}: ${run.outcome === undefined ? 'running' : outcomeText(run.outcome)}`,
    prose(run.reason ?? `Running for ${twoUnitSpan(run.seen_at - run.started_at)}.`),
    table(['', ''], facts(run, host)),
  ]
  const figures = used(run)
  if (figures.length > 0) parts.push('## What it used', table(['', ''], figures))
  if (run.gpus.length > 0)
    parts.push(
      table(
        ['GPU', 'Held', 'Share', 'With work', 'Highest memory'],
        run.gpus.map(({ gpu, uuid, gi, share, held_seconds: held, active_seconds: active, memory_peak_bytes: peak }) => [
          `${gpu}${gi === undefined ? '' : `, MIG ${gi}`} (${code(uuid)})`,
          twoUnitSpan(held * 1_000),
          `${Math.round(share * 100)} %`,
          active === undefined ? 'not known' : twoUnitSpan(active * 1_000),
          peak === undefined ? 'not known' : bytesText(peak),
        ]),
      ),
    )
  if (run.incidents.length > 0)
    parts.push('## Incidents', run.incidents.map(({ id, kind, title }) => `- ${prose(title)} (${kind}): ${code(`warpwatch incidents ${id}`)}`).join('\n'))
  if (before.length > 0)
    parts.push(
      `## ${counted(before.length, 'earlier run')}`,
      table(
        ['Run', 'Started', 'Lasted', 'Outcome', 'Why', 'GPU time lost'],
        before
          .slice(0, MAX_RUNS)
          .map((one) => [
            String(one.run),
            isoText(one.started_at),
            twoUnitSpan((one.ended_at ?? one.seen_at) - one.started_at),
            one.outcome === undefined ? 'running' : outcomeText(one.outcome),
            prose(one.reason ?? ''),
            one.gpu_seconds.lost === 0 ? '' : gpuTimeText(one.gpu_seconds.lost),
          ]),
      ),
    )
  return `${parts.join('\n\n')}\n`
}
