// A GPU in two instances.
import type { Scenario } from '../scenario.ts'

export const mig: Scenario = {
  name: 'mig',
  shows: 'GPU 7 is split into two MIG instances (3g.40gb) with their own memory and processes; nothing goes wrong',
  mig: true,
  begin: () => () => {},
}
