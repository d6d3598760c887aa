// What is below the cards: containers and processes. A file of its own, as it is no part of what is looked for first.
import { gpus } from '../../parts/live/state.ts'
import { ProcessTable } from '../../parts/table/processes.tsx'
import { ContainerTable } from './containers.tsx'

export function Tables() {
  return (
    <>
      <ContainerTable />
      {/* Without a GPU nobody has looked for them. */}
      {gpus.value.length > 0 && <ProcessTable />}
    </>
  )
}
