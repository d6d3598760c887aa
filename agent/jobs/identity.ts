// Which job a container, a process or a command belongs to: the same id for every run of it.
import type { ExecEvent, ProcessEvent } from '../model/event.ts'
import type { JobIdentity, JobKind } from '../model/job.ts'
import type { Labels } from '../model/series.ts'

/** FNV-1a, twice with different seeds: 64 bits that name a job of this host; no secret and no attacker is involved. */
export function idOf(...parts: readonly string[]): string {
  const half = (seed: number): string => {
    let hash = seed
    for (const part of parts) {
      for (let at = 0; at < part.length; at++) hash = Math.imul(hash ^ part.charCodeAt(at), 0x01000193)
      hash = Math.imul(hash ^ 0xffff, 0x01000193)
    }
    return (hash >>> 0).toString(16).padStart(8, '0')
  }
  return half(0x811c9dc5) + half(0x9747b28c)
}

const identity = (kind: JobKind, key: readonly string[], job: string, more: Omit<JobIdentity, 'job_id' | 'job' | 'kind'>): JobIdentity => ({
  job_id: idOf(kind, ...key),
  job,
  kind,
  ...more,
})
const given = (name: string, value: string | undefined): Readonly<Record<string, string>> => (value === undefined || value === '' ? {} : { [name]: value })

/** By the labels of any series of a container; undefined without its id. */
export function containerJob(labels: Labels): JobIdentity | undefined {
  const { container_id: id, container = id, image, compose_project: project, compose_service: service, namespace, pod, user } = labels
  if (id === undefined || container === undefined) return undefined
  const more = { container, container_id: id, ...given('user', user), ...given('image', image), ...given('namespace', namespace) }
  if (pod !== undefined && pod !== '') return identity('pod', [namespace ?? '', pod], pod, more)
  if (service !== undefined && service !== '') return identity('container', [project ?? '', service], service, more)
  return identity('container', ['', container], container, more)
}

/** The id of a Slurm job, for whoever knows its number. */
export const slurmJobId = (job: string): string => idOf('slurm', job)

/** The id of a job as people write it: itself, or `slurm:4711` for a job of Slurm. */
export function jobIdOf(text: string): string | undefined {
  if (/^[0-9a-f]{16}$/.test(text)) return text
  const [, slurm] = /^slurm:(\d{1,12}(?:_\d{1,9})?)$/.exec(text) ?? []
  return slurm === undefined ? undefined : slurmJobId(slurm)
}

export function processJob(event: ProcessEvent): JobIdentity {
  const { root, user, uid, slurm_job: slurm, slurm_name: name, slurm_user: slurmUser, unit } = event
  const more = {
    pid: root.pid,
    command: root.command,
    ...given('user', slurm === undefined ? user : (slurmUser ?? user)),
    ...(uid === undefined ? {} : { uid }),
  }
  if (slurm !== undefined) {
    const { account, partition, time_limit_seconds: limit, gpus_requested: gpus } = event
    return identity('slurm', [slurm], name ?? `job ${slurm}`, {
      ...more,
      slurm_job: slurm,
      ...given('account', account),
      ...given('partition', partition),
      ...(limit === undefined ? {} : { time_limit_seconds: limit }),
      ...(gpus === undefined ? {} : { gpus_requested: gpus }),
    })
  }
  if (unit !== undefined) return identity('unit', [unit], unit, { ...more, unit })
  return identity('session', [user ?? '', root.command], root.command, more)
}

export function execJob({ pid, name, command, user }: ExecEvent): JobIdentity {
  return identity('exec', [user ?? '', name ?? command], name ?? command, { pid, command, ...given('user', user) })
}
