// The contract of every check of the doctor, met with its cases (test/unit/doctor/cases/ID.ts): passes, complains and skips as it should, and says what to do.
import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import * as registry from '../../agent/doctor/checks/index.ts'
import type { CheckDefinition, Finding, Surroundings } from '../../agent/doctor/definition.ts'
import { runCheck } from '../../agent/doctor/runner.ts'
import { REDACTED } from '../../agent/lib/redact.ts'
import type { CheckReport } from '../../agent/model/doctor.ts'
import { INCIDENT_KINDS } from '../../agent/model/kinds.ts'
import { WELL } from '../unit/doctor/hosts.ts'
import { buildScene, needsRoot, PATIENCE_MS, type BuiltScene, type CheckCase, type Scene } from '../unit/doctor/scene.ts'

const root = join(import.meta.dirname, '../..')
const checks = Object.values<CheckDefinition>(registry)
const isRoot = process.getuid?.() === 0

async function casesOf(id: string): Promise<readonly CheckCase[]> {
  const path = join(root, `test/unit/doctor/cases/${id}.ts`)
  if (!existsSync(path)) throw new Error(`the check ${id} has no cases: add ${path}`)
  const module: unknown = await import(path)
  if (typeof module !== 'object' || module === null || !('cases' in module) || !Array.isArray(module.cases)) throw new Error(`${path} does not export "cases"`)
  return module.cases
}

const PROGRAMMING = /undefined|NaN|\[object|is not a function|Cannot read propert/
/** What an operator could not make use of. */
function faultsOf({ status, summary, remedies = [] }: Finding): readonly string[] {
  return [
    ...(summary === '' || summary.includes('\n') ? ['its summary is not one line'] : []),
    ...(PROGRAMMING.test(JSON.stringify([summary, remedies])) ? ['it tells what only a programmer understands'] : []),
    ...((status === 'fail' || status === 'warn') && remedies.length === 0 ? ['it does not say what to do'] : []),
    ...(remedies.some(({ text }) => text === '') ? ['a remedy says nothing'] : []),
    ...(JSON.stringify(remedies).includes(REDACTED) ? ['a remedy looks like a secret, and is taken out'] : []),
  ]
}
async function look(check: CheckDefinition, scene: Scene, change: (around: Surroundings) => Surroundings = (around) => around): Promise<CheckReport> {
  const built = await buildScene(scene)
  try {
    return await runCheck({ ...check, timeoutMs: PATIENCE_MS }, change(built.around))
  } finally {
    built.remove()
  }
}
/** Checks change nothing, so all of them look at the same well hosts: writing them again for each check takes most of the time. */
const wellHosts = new Map<string, Promise<BuiltScene>>()
const wellHost = (about: string, scene: Scene): Promise<BuiltScene> => {
  const host = wellHosts.get(about) ?? buildScene(scene)
  wellHosts.set(about, host)
  return host
}
afterAll(async () => {
  for (const host of wellHosts.values()) (await host).remove()
})
const wrongWith = (about: string, { findings }: CheckReport): readonly string[] =>
  findings.flatMap((finding) => faultsOf(finding).map((fault) => `${about}: ${fault}: ${JSON.stringify(finding)}`))
const complaints = ({ findings }: CheckReport): readonly Finding[] => findings.filter(({ status }) => status === 'fail' || status === 'warn')

test('ids are unique', () => {
  expect(new Set(checks.map(({ id }) => id)).size).toBe(checks.length)
  expect(checks.length).toBeGreaterThan(10)
})

describe.each(checks.map((check) => [check.id, check] as const))('%s', (id, check) => {
  test('is what its file says, and covers kinds that there are', () => {
    expect(id).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
    // `wsl2-memory` is wsl2/memory.ts, `dev-nodes` host/dev-nodes.ts.
    const files = readdirSync(join(root, 'agent/doctor/checks'), { recursive: true, encoding: 'utf8' })
    expect(files.map((file) => [basename(file, '.ts'), file.replace('/', '-').replace('.ts', '')]).filter((names) => names.includes(id))).toHaveLength(1)
    expect(check.title).toMatch(/[^.]$/)
    expect(INCIDENT_KINDS).toEqual(expect.arrayContaining([...check.covers]))
  })

  test('has a passing, a complaining and a skipped case, and says of each what it should', { timeout: 2 * PATIENCE_MS }, async () => {
    const cases = await casesOf(id)
    const statuses = cases.map(({ status }) => status)
    expect(statuses).toEqual(expect.arrayContaining(['pass', 'skipped']))
    expect(statuses.filter((status) => status === 'fail' || status === 'warn')).not.toEqual([])
    const wrong: string[] = []
    for (const { about, scene, status, says = /^/ } of cases) {
      if (needsRoot(scene) && !isRoot) continue
      const report = await look(check, scene)
      const said = JSON.stringify(report.findings)
      if (report.status !== status || !says.test(said)) wrong.push(`${about}: expected ${status} and ${String(says)}, came ${report.status}: ${said}`)
      wrong.push(...wrongWith(about, report))
    }
    expect(wrong).toEqual([])
  })

  test.each(Object.entries(WELL))('on %s: no complaint, no exception', async (about, scene) => {
    const { around } = await wellHost(about, scene)
    const report = await runCheck({ ...check, timeoutMs: PATIENCE_MS }, around)
    expect(complaints(report)).toEqual([])
    expect(wrongWith(about, report)).toEqual([])
  })

  test('complains of nothing where all that it asks fails', async () => {
    const failing = async (): Promise<never> => await Promise.reject(new Error('nobody may know'))
    const names = ['readText', 'list', 'stat', 'lstat', 'exists', 'readlink', 'realpath', 'writable', 'openable', 'space'] as const
    const report = await look(check, {}, (around) => ({
      ...around,
      files: { ...around.files, ...Object.fromEntries(names.map((name) => [name, failing])) },
      distribution: failing,
      engine: failing,
      containers: failing,
      nvml: failing,
      composeFiles: failing,
    }))
    expect(complaints(report)).toEqual([])
  })
})
