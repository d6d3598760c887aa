// A GPU in two instances, of which one is full while the other has room.
import { MIB } from '../allocator.ts'
import { everyCycle, type Scenario } from '../scenario.ts'

const BYTES_PER_SECOND = 300 * MIB

export const mig: Scenario = {
  name: 'mig',
  shows:
    'GPU 7 is split into two MIG instances (3g.40gb) with their own memory and processes; from 40 s on old-experiment fills its instance within 80 s and runs out of memory there, while the other instance has space; again every 4 min',
  mig: true,
  begin: (stage) => {
    let pidBefore = 0
    return everyCycle(240, (second) => {
      const [process] = stage.processesOf('old-experiment')
      if (process === undefined) return
      if (second === 40) pidBefore = process.pid
      if (second < 40 || process.pid !== pidBefore || process.owner?.running !== true) return
      process.extraBytes += BYTES_PER_SECOND
    })
  },
}
