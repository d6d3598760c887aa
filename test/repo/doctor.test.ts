// The page about the doctor, and its step in the runbooks, are what the checks declare.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as registry from '../../agent/doctor/checks/index.ts'
import type { CheckDefinition } from '../../agent/doctor/definition.ts'
import { INCIDENT_KINDS } from '../../agent/model/kinds.ts'
import { doctorPage, linesOnPage, PAGE, runbookPage, RUNBOOKS } from '../../scripts/doctor-doc.ts'

const checks = Object.values<CheckDefinition>(registry)
const runbook = (kind: string): string => readFileSync(join(RUNBOOKS, `${kind}.md`), 'utf8')

test('docs/doctor.md is what the checks declare (node scripts/doctor-doc.ts writes it)', async () => {
  const page = readFileSync(PAGE, 'utf8')
  expect(page).toBe(await doctorPage(page, linesOnPage(page)))
  // What they say where something is wrong is not made anew here; each says something, and nothing of the machine on which that was made.
  const lines = await Promise.all(checks.map(async (check) => ({ id: check.id, said: await linesOnPage(page)(check) })))
  expect(lines.filter(({ said }) => said.length === 0)).toEqual([])
  expect(page).not.toMatch(/warpwatch-doctor-|undefined/)
})

test('each runbook names the checks of its kind, and no others (node scripts/doctor-doc.ts writes it)', () => {
  expect(INCIDENT_KINDS.filter((kind) => runbookPage(kind, runbook(kind)) !== runbook(kind))).toEqual([])
  for (const { id, group, covers } of checks)
    for (const kind of covers) {
      const named = /^ {2}warpwatch doctor --only (\S+)$/m.exec(runbook(kind))?.[1]?.split(',') ?? []
      expect(named.includes(id) || named.includes(group), `${kind} names ${id} or ${group}`).toBe(true)
    }
})
