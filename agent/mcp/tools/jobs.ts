// Jobs now and in the past: outcome, progress, what each used and lost.
import * as z from 'zod'
import { memoryText } from '../../text/bytes.ts'
import { percent } from '../../text/figures.ts'
import { gpuTimeText, twoUnitSpan } from '../../text/span.ts'
import { utcText } from '../../text/time.ts'
import { inLine } from '../answer.ts'
import { job, progress, rowsOf } from '../rows.ts'
import { tool } from '../tool.ts'

const DEFAULT_LIMIT = 20

export const jobs = tool({
  name: 'jobs',
  title: 'Jobs',
  description:
    'Jobs (containers, pods, Slurm jobs, units, sessions) that run or ran on the GPUs: outcome, progress with ETA, GPU time used and lost. Running ones first.',
  input: {
    job: z.string().max(200).optional().describe('only jobs whose name contains this'),
    limit: z.int().min(1).max(100).optional().describe(`at most so many (default ${DEFAULT_LIMIT})`),
  },
  hint: 'Ask with a part of the name, or with a smaller limit.',
  async run({ job: name, limit = DEFAULT_LIMIT }, ask) {
    const [rows, reported] = await Promise.all([rowsOf(ask, '/api/v1/jobs?limit=1000', job), rowsOf(ask, '/api/v1/progress', progress)])
    const wanted = rows.filter((row) => name === undefined || row.job.toLowerCase().includes(name.toLowerCase()) || row.job_id === name)
    if (wanted.length === 0)
      return [name === undefined ? 'No jobs were seen on this host.' : `No job has ${JSON.stringify(name)} in its name. Ask without it for all of them.`]
    return wanted.slice(0, limit).map(({ job: called, job_id: id, runs, last }) => {
      const now = reported.find((one) => one.job === called)
      const length = twoUnitSpan((last.ended_at ?? last.seen_at) - last.started_at)
      return [
        `${inLine(called, 80)} (${id}, ${last.kind}${last.user === undefined ? '' : ` of ${inLine(last.user, 40)}`}), run ${last.run}${runs > 1 ? ` of ${runs}` : ''}`,
        last.outcome === undefined ? `running for ${length}` : `${last.outcome} at ${utcText(last.ended_at ?? last.seen_at)} after ${length}`,
        ...(last.reason === undefined ? [] : [inLine(last.reason, 200)]),
        ...(last.outcome !== undefined || now?.progress_ratio === undefined ? [] : [`${percent(now.progress_ratio)} done`]),
        ...(last.outcome !== undefined || now?.eta_seconds === undefined ? [] : [`ETA ${twoUnitSpan(now.eta_seconds * 1_000)}`]),
        ...(last.gpus.length === 0
          ? []
          : [`GPU ${last.gpus.map(({ gpu }) => gpu).join(',')}`, `GPU time ${gpuTimeText(last.gpu_seconds.active + last.gpu_seconds.idle)}`]),
        ...(last.gpu_seconds.lost > 0 ? [`lost ${gpuTimeText(last.gpu_seconds.lost)}`] : []),
        ...(last.gpu_memory_peak_bytes === undefined ? [] : [`peak ${memoryText(last.gpu_memory_peak_bytes)}`]),
        ...(last.incidents.length === 0 ? [] : [`incidents ${last.incidents.map(({ id: one, kind }) => `${one} (${kind})`).join(', ')}`]),
      ].join(', ')
    })
  },
})
