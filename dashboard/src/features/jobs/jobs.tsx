// The jobs: all of them, or the one that the address names.
import { useEffect } from 'preact/hooks'
import { JobList } from './view.tsx'
import { JobPage } from './page/page.tsx'
import { Loading } from '../../parts/loading.tsx'
import { frame, stale } from '../../parts/live/state.ts'
import { watchIncidents, watchPast } from './past.ts'
import { computed } from '@preact/signals'
import type { ViewProps } from '../feature.ts'

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
