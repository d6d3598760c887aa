// Cases of the check compose-version.
import { written } from '../compose-text.ts'
import type { CheckCase } from '../scene.ts'

export const cases: readonly CheckCase[] = [
  { about: 'none', scene: written('services: {a: {image: x}}'), status: 'pass' },
  { about: 'of 2018', scene: written("version: '3.8'\nservices: {a: {image: x}}"), status: 'warn', says: /compose\.yml:1".*line 1 out/ },
  { about: 'an unreadable file', scene: written('services: ['), status: 'skipped', says: /no service can be read/ },
  { about: 'no file was named', scene: {}, status: 'skipped' },
]
