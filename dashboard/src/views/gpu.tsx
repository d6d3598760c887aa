// One GPU at large, by its index in the address: `#/gpus/3`.
import { indexRanges } from '../../../agent/text/grammar.ts'
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
      <div class="content">
        <div class="notice">
          <h2>This host has no GPU {index.slice(0, 20)}</h2>
          <p>
            {gpus.length === 0 ? 'No GPU can be read here.' : `It has ${gpus.length === 1 ? 'GPU' : 'GPUs'} ${indexRanges(gpus.map((each) => each.index))}.`}
          </p>
          <p>
            <a href="#/">Overview</a>
          </p>
        </div>
      </div>
    )
  return <GpuPage key={view.uuid} view={view} />
}
