// What the inference servers of a job say: its container's, or those of its processes.
import { useCallback } from 'preact/hooks'
import type { ServerRow } from '../../../../../agent/model/live.ts'
import { ServerLines } from '../../../parts/server/lines.tsx'
import { isServerOf } from '../../../parts/server/text.ts'
import type { Job } from '../running.ts'
import { all } from '../table/state.ts'

const holderOf = ({ key, containers, processes, holdings }: Job) => ({
  key,
  containers: containers.map(({ row }) => row.container ?? ''),
  pids: processes.map(({ pid }) => pid),
  gpus: holdings.map(({ index }) => index),
})

export function JobServers({ jobKey }: { readonly jobKey: string }) {
  const of = useCallback(
    (row: ServerRow) => {
      const jobs = all.value.filter(({ endedAt }) => endedAt === undefined).map(({ job }) => holderOf(job))
      const job = jobs.find(({ key }) => key === jobKey)
      return job !== undefined && isServerOf(row, job, jobs)
    },
    [jobKey],
  )
  return <ServerLines of={of} label="Its inference servers" />
}
