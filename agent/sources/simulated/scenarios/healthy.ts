// Nothing goes wrong.
import type { Scenario } from '../scenario.ts'

export const healthy: Scenario = {
  name: 'healthy',
  shows: 'eight busy GPUs: training over four, a chat server, embedders, a fine-tune, notebooks, a forgotten experiment; nothing goes wrong',
  begin: () => () => {},
}
