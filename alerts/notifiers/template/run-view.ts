// What a template can say of runs that have ended: the names of an incident's message, so that one template serves both, and the run itself.
import { severityOfRun, type Run } from '../../../agent/model/job.ts'
import type { RunMessage } from '../../../agent/model/notification.ts'
import { runHeadline, runLines, runMessageText } from '../../messages/run-text.ts'

const isoTime = (t: number | undefined): string | null => (t === undefined ? null : new Date(t).toISOString())

function itemView(message: RunMessage, run: Run): object {
  const { job_id: id, container, image, namespace, pid, reason, started_at: startedAt, ended_at: endedAt, gpus, incidents } = run
  const [gpu] = gpus
  return {
    event: 'finished',
    reason: 'new',
    id: `${id}-${run.run}`,
    kind: 'run_finished',
    alert: 'RunFinished',
    severity: severityOfRun(run),
    headline: runHeadline(run),
    title: runHeadline(run),
    verdict: reason ?? null,
    count: 1,
    gpu: gpu === undefined ? null : Number(gpu.gpu),
    gpu_name: null,
    uuid: gpu?.uuid ?? null,
    container: container ?? null,
    image: image ?? null,
    namespace: namespace ?? null,
    pod: null,
    process: null,
    pid: pid ?? null,
    started_at: isoTime(startedAt),
    resolved_at: isoTime(endedAt),
    resolution: reason ?? null,
    remedies: [],
    url: null,
    runbook: null,
    directions: runLines(run, message.host).find(([label]) => label === 'Report')?.[1] ?? null,
    facts: {},
    incident: incidents[0] ?? null,
    run,
    message: { ...message, runs: [run] },
  }
}

export function runViewOf(message: RunMessage, secrets: Readonly<Record<string, string>>): object {
  const { key, t, host, base_url, runs, expired } = message
  const { headline, isBad } = runMessageText(message)
  return {
    key,
    time: isoTime(t),
    host,
    dashboard: base_url ?? null,
    event: 'finished',
    test: false,
    severity: isBad ? 'warning' : 'info',
    headline,
    count: runs.length,
    expired: expired?.count ?? null,
    items: runs.map((run) => itemView(message, run)),
    message,
    secrets,
  }
}
