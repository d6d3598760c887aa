// A Python extension does not fit the installed packages.
import { defineKind } from './kind.ts'

export const missingDependency = defineKind({
  id: 'missing_dependency',
  title: 'A Python extension does not fit the installed packages',
  layer: 'program',
  from: 'logs',
  facts: ['module', 'pattern'],
  quietMinutes: 30,
  crash: { rank: 9 },
})
