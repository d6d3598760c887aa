// The jobs: all of them, or the one that the address names.
import { useEffect } from 'preact/hooks'
import { JobList } from '../components/jobs/job-list.tsx'
import { JobPage } from '../components/jobs/job-page.tsx'
import { Loading } from '../components/notices.tsx'
import { frame, stale } from '../state/app.ts'
import { watchIncidents, watchPast } from '../state/jobs-past.ts'
import { computed } from '@preact/signals'
import type { ViewProps } from './definition.ts'

const waiting = computed(() => frame.value === undefined)

export function Jobs({ rest }: ViewProps) {
  useEffect(() => {
    const ends = [watchPast(), watchIncidents()]
    return () => ends.forEach((end) => end())
  }, [])
  if (waiting.value) return <Loading />
  const [key] = rest
  return <div class={stale.value ? 'content stale' : 'content'}>{key === undefined ? <JobList /> : <JobPage key={key} jobKey={key} />}</div>
}
