// The contract of every check of the doctor, met with its cases (test/unit/doctor/cases/ID.ts): passes, complains and skips as it should, and says what to do.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as registry from '../../agent/doctor/checks/index.ts'
import type { CheckDefinition } from '../../agent/doctor/definition.ts'
import { runCheck } from '../../agent/doctor/runner.ts'
import { INCIDENT_KINDS } from '../../agent/model/incident.ts'
import { WELL } from '../unit/doctor/hosts.ts'
import { buildScene, needsRoot, type CheckCase } from '../unit/doctor/scene.ts'

const root = join(import.meta.dirname, '../..')
const checks = Object.values<CheckDefinition>(registry)
const isRoot = process.getuid?.() === 0

async function casesOf(id: string): Promise<readonly CheckCase[]> {
  const path = join(root, `test/unit/doctor/cases/${id}.ts`)
  expect(existsSync(path), `${path}: the cases of ${id}`).toBe(true)
  const module: unknown = await import(path)
  if (typeof module !== 'object' || module === null || !('cases' in module) || !Array.isArray(module.cases))
    throw new Error(`${path}: expected an export "cases"`)
  return module.cases
}

test('ids are unique', () => {
  expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length)
  expect(checks.length).toBeGreaterThan(10)
})

describe.each(checks.map((check) => [check.id, check] as const))('%s', (id, check) => {
  test('is what its file says, and covers kinds that there are', () => {
    expect(id).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
    expect(existsSync(join(root, `agent/doctor/checks/${id}.ts`)), `agent/doctor/checks/${id}.ts`).toBe(true)
    expect(check.title).not.toBe('')
    expect(check.title).not.toMatch(/\.$/)
    for (const kind of check.covers) expect(INCIDENT_KINDS).toContain(kind)
  })

  test('has a passing, a complaining and a skipped case, and says of each what it should', async () => {
    const cases = await casesOf(id)
    const statuses = cases.map(({ status }) => status)
    expect(statuses).toContain('pass')
    expect(statuses).toContain('skipped')
    expect(statuses.some((status) => status === 'fail' || status === 'warn')).toBe(true)
    for (const { about, scene, status, says } of cases) {
      if (needsRoot(scene) && !isRoot) continue
      const built = await buildScene(scene)
      try {
        const report = await runCheck(check, built.around)
        const shown = `${id}, ${about}: ${JSON.stringify(report.findings)}`
        expect(report.status, shown).toBe(status)
        if (says !== undefined) expect(JSON.stringify(report.findings), about).toMatch(says)
        for (const finding of report.findings) {
          expect(finding.summary, shown).not.toBe('')
          expect(finding.summary.includes('\n'), `one line: ${shown}`).toBe(false)
          expect(finding.summary, shown).not.toMatch(/undefined|NaN|\[object|is not a function|Cannot read propert/)
          if (finding.status === 'fail' || finding.status === 'warn') expect(finding.remedies?.length ?? 0, `a remedy: ${shown}`).toBeGreaterThan(0)
          for (const { text, command } of finding.remedies ?? []) {
            expect(text, shown).not.toBe('')
            expect(`${text} ${command ?? ''}`, shown).not.toMatch(/undefined|NaN|\[object/)
          }
        }
      } finally {
        built.remove()
      }
    }
  })

  test.each(Object.entries(WELL))('on %s: no complaint, no exception', async (_name, scene) => {
    const built = await buildScene(scene)
    try {
      const report = await runCheck(check, built.around)
      expect(['pass', 'skipped'], JSON.stringify(report.findings)).toContain(report.status)
      for (const { summary } of report.findings) expect(summary).not.toMatch(/undefined|NaN|\[object|is not a function|Cannot read propert/)
    } finally {
      built.remove()
    }
  })

  test('complains of nothing where all that it asks fails', async () => {
    const built = await buildScene({})
    const failing = async (): Promise<never> => await Promise.reject(new Error('nobody may know'))
    try {
      const { around } = built
      const names = ['readText', 'list', 'stat', 'lstat', 'exists', 'readlink', 'realpath', 'writable', 'space'] as const
      const files = { ...around.files, ...Object.fromEntries(names.map((name) => [name, failing])) }
      const report = await runCheck(check, {
        ...around,
        files,
        distribution: failing,
        engine: failing,
        containers: failing,
        nvml: failing,
        composeFiles: failing,
      })
      expect(['pass', 'skipped'], JSON.stringify(report.findings)).toContain(report.status)
    } finally {
      built.remove()
    }
  })
})
