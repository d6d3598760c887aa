// Blocked air: cards get hot and take their clocks back.
import { POWER_LIMIT_WATTS } from '../card.ts'
import { everyCycle, type Scenario } from '../scenario.ts'

export const throttling: Scenario = {
  name: 'throttling',
  shows: 'from 20 s to 150 s GPUs 0 and 1 overheat and slow down, while GPU 4 has a power limit of 300 W; again every 4 min',
  begin: (stage) =>
    everyCycle(240, (second) => {
      const hot = second >= 20 && second < 150
      stage.card(0).extraHeat = hot ? 32 : 0
      stage.card(1).extraHeat = hot ? 27 : 0
      stage.card(4).powerLimitWatts = hot ? 300 : POWER_LIMIT_WATTS
    }),
}
