// A threshold of your own was exceeded.
import { defineKind } from './kind.ts'

export const custom = defineKind({
  id: 'custom',
  title: 'A threshold of your own was exceeded',
  layer: 'user',
  from: 'numbers',
  facts: ['name', 'metric', 'series', 'value', 'threshold'],
})
