// The processes of a job or container by its name, as the agent that runs on this host knows them.
import type { Config } from '../../config/schema.ts'
import type { Evidence } from '../../hang/model.ts'
import { EVIDENCE_PATH } from '../../model/hosts.ts'
import { callAgent } from '../change.ts'
import { messageOf } from '../../text/error.ts'
import { UsageError } from '../command.ts'

type Fields = Readonly<Record<string, unknown>>
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null
const rowsOf = (body: unknown): readonly Fields[] => (Array.isArray(body) ? body.filter(isFields) : [])
const isPid = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value > 0

/** The newest run of the job that has not ended. */
function runningOf(jobs: readonly Fields[], name: string): Fields | undefined {
  const found = jobs.find(({ job, job_id: id, running }) => (job === name || id === name) && typeof running === 'number' && running > 0)
  return isFields(found?.['last']) ? found['last'] : undefined
}

/** Where a run began with a process of this host, what is below it; in a container, those that hold a GPU. */
export async function processesOf(config: Config, name: string): Promise<readonly number[]> {
  const called = JSON.stringify(name.slice(0, 80))
  const [jobs, processes] = await Promise.all(
    ['/api/v1/jobs?limit=1000', '/api/v1/processes'].map(async (path) => rowsOf(await callAgent(config, 'as the name of a job', 'GET', path))),
  ).catch((error: unknown) => {
    throw new UsageError(`hang: ${called} is no file or folder; ${messageOf(error)}`, { cause: error })
  })
  const run = runningOf(jobs ?? [], name)
  const container = run === undefined ? name : run['container']
  const held = (processes ?? []).flatMap((row) => (container !== undefined && row['container'] === container && isPid(row['pid']) ? [row['pid']] : []))
  const pids = [...new Set(held.length > 0 ? held : isPid(run?.['pid']) ? [run['pid']] : [])]
  if (pids.length > 0) return pids
  throw new UsageError(
    run === undefined
      ? `hang: ${called} is no file or folder, no running job, and no container that holds a GPU. List them: warpwatch jobs`
      : `hang: the agent lists no process of ${called}. Give the pid of its launcher: warpwatch hang PID`,
  )
}

/** What the agents of other hosts found out about their ranks of the same job, each through the agent of this host, which knows their addresses. */
export async function addOtherHosts(config: Config, pids: readonly number[], evidence: Evidence): Promise<void> {
  if ((evidence.worldSize ?? 0) <= evidence.ranks.size) return
  const [{ masterOf }, { readProcessTree }, { readFileInto }] = await Promise.all([
    import('../../hang/live/master.ts'),
    import('../../hang/live/process.ts'),
    import('../../hang/evidence/folder.ts'),
  ])
  const tree = readProcessTree()
  const master = pids.map((pid) => masterOf(pid, tree)?.shared).find((shared) => shared !== undefined)
  if (master === undefined) return
  const ask = async (path: string): Promise<unknown> => callAgent(config, 'hang', 'GET', path)
  const failed = (who: string, error: unknown): void => void evidence.problems.push(`${who}: ${messageOf(error).replace(/^hang: /, '')}`)
  // What is known of the ranks here is reported whatever the other hosts answer.
  const hosts = await ask('/api/v1/hosts').catch((error: unknown) => failed('other hosts', error))
  const names = rowsOf(hosts).flatMap(({ name, self }) => (typeof name === 'string' && self !== true ? [name] : []))
  await Promise.all(
    names.map(async (name) => {
      try {
        const found = await ask(`/hosts/${encodeURIComponent(name)}${EVIDENCE_PATH}?master=${encodeURIComponent(master)}`)
        readFileInto({ path: name, name: 'saved.json', bytes: Buffer.from(JSON.stringify(found)) }, evidence)
      } catch (error) {
        failed(`host ${name}`, error)
      }
    }),
  )
}
