// The program refused its settings: arguments, configuration, combinations.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const configError = defineKind({
  id: 'config_error',
  title: 'The program rejected its configuration',
  layer: 'program',
  from: 'logs',
  facts: ['path'],
  quietMinutes: 30,
  crash: { rank: 9 },
  afterInText: BEFORE_ENDS,
})
