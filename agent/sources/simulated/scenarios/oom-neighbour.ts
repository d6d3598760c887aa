// A notebook takes the room that the fine-tune on the same GPU needs for its larger steps.
import { GIB, MIB } from '../allocator.ts'
import { everyCycle, type Scenario } from '../scenario.ts'

const NOTEBOOK_BYTES_PER_SECOND = 700 * MIB
/** Leaves the fine-tune room for its ordinary steps, not for larger ones: 79.1 GiB of the card less 5.8 of the notebook's own work and 34.3 of the fine-tune. */
const NOTEBOOK_BYTES = 36.5 * GIB
const LARGER_STEP_BYTES = 8 * GIB

export const oomNeighbour: Scenario = {
  name: 'oom-neighbour',
  shows:
    'from 40 s on notebook-lab-1 fills what is free of GPU 6 within a minute; finetune-lora dies at its larger steps from 110 s on; the notebook lets go at 3 min; again every 4 min',
  begin: (stage) => {
    const [victim] = stage.processesOf('finetune-lora')
    const notebook = stage.processesOf('notebook-lab-1').find((process) => process.card === victim?.card)
    let pidBefore = 0
    return everyCycle(240, (second) => {
      if (notebook === undefined || victim === undefined) return
      if (second === 40) pidBefore = victim.pid
      if (second === 180) stage.restart(notebook)
      // Once the victim has died there is nothing more to show.
      if (second < 40 || second >= 180 || victim.pid !== pidBefore || victim.owner?.running !== true) return
      notebook.extraBytes = Math.min(notebook.extraBytes + NOTEBOOK_BYTES_PER_SECOND, NOTEBOOK_BYTES)
      if (second >= 110) victim.extraBytes = LARGER_STEP_BYTES
    })
  },
}
