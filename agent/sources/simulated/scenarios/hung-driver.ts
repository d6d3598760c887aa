// One GPU's driver calls do not return.
import { everyCycle, type Scenario } from '../scenario.ts'

export const hungDriver: Scenario = {
  name: 'hung-driver',
  shows:
    'at 40 s the driver no longer answers for GPU 3: its readings go, the age of its sample rises, the others stay fresh; it answers again at 130 s; again every 4 min',
  begin: (stage) =>
    everyCycle(240, (second) => {
      stage.card(3).fault = second >= 40 && second < 130 ? 'hung' : undefined
    }),
}
