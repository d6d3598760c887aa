// The declarations of kinds: one file each, named as the kind, and someone who raises it.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { INCIDENT_KINDS, isIncidentKind, kindOf } from '../../agent/model/kinds.ts'
import { isLogKind } from '../../agent/model/log-kinds.ts'
import { COMMON_FACTS } from '../../agent/model/facts.ts'
import { END_KINDS } from '../../agent/diagnosis/ends/classify.ts'
import * as families from '../../agent/diagnosis/faults/index.ts'
import * as detectors from '../../agent/diagnosis/detectors/index.ts'

const folder = join(import.meta.dirname, '../../agent/model/kinds')

describe('kinds', () => {
  test('those that logs show are registered apart from the others', () => {
    expect(INCIDENT_KINDS.filter((kind) => isLogKind(kind) !== (kindOf(kind).from !== 'numbers'))).toEqual([])
  })
  test('each is declared in the file of its name, and each file declares one', () => {
    const files = readdirSync(folder).filter((name) => !['index.ts', 'from-logs.ts', 'from-numbers.ts'].includes(name) && name !== 'kind.ts')
    expect(files.toSorted()).toEqual(INCIDENT_KINDS.map((kind) => `${kind.replaceAll('_', '-')}.ts`).toSorted())
    const wrong = files.filter(
      (name) => !readFileSync(join(folder, name), 'utf8').includes(`\n  id: '${name.slice(0, -'.ts'.length).replaceAll('-', '_')}',\n`),
    )
    expect(wrong).toEqual([])
  })
  test('a kind of logs has a fault family or is a kind of end, a kind of numbers has a detector', () => {
    const ofFamilies = new Set<string>([...Object.values(families).flatMap(({ kinds }) => kinds), ...END_KINDS.map(({ kind }) => kind)])
    const ofDetectors = new Set<string>(Object.values(detectors).flatMap(({ kinds }) => kinds))
    expect(INCIDENT_KINDS.filter((kind) => isLogKind(kind) && !ofFamilies.has(kind))).toEqual([])
    // Thresholds of the configuration raise `custom`.
    expect(INCIDENT_KINDS.filter((kind) => kindOf(kind).from !== 'logs' && !ofDetectors.has(kind)).toSorted()).toEqual(['custom'])
  })
  test('facts are named once, and what all kinds carry is not named again', () => {
    const common: ReadonlySet<string> = new Set(COMMON_FACTS)
    expect(INCIDENT_KINDS.filter((kind) => kindOf(kind).facts.some((name, i, all) => common.has(name) || all.indexOf(name) !== i))).toEqual([])
  })
  test('in one text no kind follows from itself, not even over others', () => {
    const after = (kind: string): readonly string[] => (isIncidentKind(kind) ? (kindOf(kind).afterInText ?? []) : [])
    const reaches = (from: string, wanted: string, seen: readonly string[] = []): boolean =>
      after(from).some((cause) => cause === wanted || (!seen.includes(cause) && reaches(cause, wanted, [...seen, cause])))
    expect(INCIDENT_KINDS.filter((kind) => after(kind).length > 0).length).toBeGreaterThan(5)
    expect(INCIDENT_KINDS.filter((kind) => reaches(kind, kind))).toEqual([])
  })
})
