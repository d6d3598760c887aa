// The page: head, status, the cards of all GPUs, the tables.
import { connection, frame, stale, views } from '../state/app.ts'
import { ContainerTable } from './container-table.tsx'
import { GpuCard } from './gpu-card.tsx'
import { IncidentList } from './incident-list.tsx'
import { Masthead } from './masthead.tsx'
import { Loading, NoGpu, TokenForm } from './notices.tsx'
import { ProcessTable } from './process-table.tsx'
import { SilenceList } from './silence-list.tsx'
import { StatusLine } from './status-line.tsx'

function Content() {
  const now = connection.value
  if (now.state === 'unauthorized') return <TokenForm key={String(now.rejected)} rejected={now.rejected} />
  const gpus = views.value
  if (frame.value === undefined || gpus === undefined) return <Loading />
  return (
    <div class={stale.value ? 'content stale' : 'content'}>
      <IncidentList />
      <SilenceList />
      {gpus.length === 0 ? (
        <NoGpu />
      ) : (
        <section aria-labelledby="gpus-title" class="gpus" data-count={gpus.length}>
          <h2 id="gpus-title" class="spoken">
            GPUs
          </h2>
          {gpus.map((view) => (
            <GpuCard key={view.uuid} view={view} />
          ))}
        </section>
      )}
      <ContainerTable />
      <ProcessTable />
    </div>
  )
}

export function Page() {
  return (
    <>
      <div class="top">
        <Masthead />
        <StatusLine />
      </div>
      <main>
        <Content />
      </main>
    </>
  )
}
