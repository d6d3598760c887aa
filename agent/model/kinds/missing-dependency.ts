// A module, symbol, program or system library is missing or of the wrong version.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const missingDependency = defineKind({
  id: 'missing_dependency',
  title: 'Something that the program needs is missing',
  layer: 'program',
  from: 'logs',
  facts: ['module', 'pattern'],
  quietMinutes: 30,
  crash: { rank: 9 },
  afterInText: BEFORE_ENDS,
})
