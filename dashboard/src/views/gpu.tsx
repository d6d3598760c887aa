// One GPU at large, by its index in the address: `#/gpus/3`.
import { frame, views } from '../state/app.ts'
import { GpuPage } from '../components/gpu/gpu-page.tsx'
import { Loading } from '../components/notices.tsx'
import type { ViewProps } from './definition.ts'

export function Gpu({ rest }: ViewProps) {
  const [index = ''] = rest
  const gpus = views.value
  if (frame.value === undefined || gpus === undefined) return <Loading />
  const view = gpus.find((each) => String(each.index) === index)
  if (view === undefined)
    return (
      <p class="lost">
        This host has no GPU {JSON.stringify(index)}. <a href="#/">Overview</a>
      </p>
    )
  return <GpuPage key={view.uuid} view={view} />
}
