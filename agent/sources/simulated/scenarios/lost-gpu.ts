// A GPU falls off the bus.
import { everyCycle, type Scenario } from '../scenario.ts'

export const lostGpu: Scenario = {
  name: 'lost-gpu',
  shows: 'at 45 s GPU 5 falls off the bus (Xid 79): its readings are gone and its containers die; it is back at 3 min; again every 5 min',
  begin: (stage) =>
    everyCycle(300, (second) => {
      const card = stage.card(5)
      if (second === 45) {
        const its = stage.world.processes.filter((process) => process.card === card)
        stage.xid(card, 79, 'GPU has fallen off the bus.', its[0])
        for (const process of its) if (process.owner?.running === true) stage.crash(process, 'unspecified launch failure')
        card.fault = 'lost'
      } else if (second === 180) {
        card.fault = undefined
      }
    }),
}
