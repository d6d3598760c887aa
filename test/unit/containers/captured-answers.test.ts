// Answers captured from Docker 20.10 and Podman 4.3 pass the border and say what they say.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fromInspect, fromList, toContainerEvent } from '../../../agent/sources/containers/engine-container.ts'
import { eventSchema, inspectSchema, listSchema } from '../../../agent/sources/containers/engine-schema.ts'

const captured = join(import.meta.dirname, '../../../../shared/fixtures/docker')
const text = (name: string): string => readFileSync(join(captured, name), 'utf8')
const json = (name: string): unknown => JSON.parse(text(name))

describe.skipIf(!existsSync(captured))('captured answers (needs ../shared)', () => {
  test('a list', () => {
    const containers = listSchema.parse(json('docker20-containers-json.json')).map(fromList)
    expect(containers.map(({ identity, state }) => `${identity.name} ${identity.image} ${state}`)).toEqual([
      'crash tiny:1 exited',
      'childoom tiny:1 running',
      'pid1oom tiny:1 exited',
    ])
  })

  test('inspections', () => {
    const [running, ended] = ['docker20-inspect-childoom.json', 'docker20-inspect-crash.json'].map((name) => fromInspect(inspectSchema.parse(json(name))))
    expect(running).toMatchObject({ identity: { name: 'childoom', image: 'tiny:1' }, runtime: 'runc', state: 'running', pid: 9022, restartCount: 0 })
    expect(ended).toMatchObject({ identity: { name: 'crash' }, state: 'exited' })
    expect(ended?.pid).toBeUndefined()
  })

  test.each(['docker20-cgv1-events.ndjson', 'podman43-events.ndjson'])('events of %s', (name) => {
    const events = text(name)
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => eventSchema.parse(JSON.parse(line)))
      .flatMap((event) => toContainerEvent(event) ?? [])
    expect(events.length).toBeGreaterThan(5)
    expect(events.filter(({ container_id: id }) => !/^[0-9a-f]{12}$/.test(id))).toEqual([])
    expect(events.filter(({ action, exit_code: code }) => (action === 'die') !== (code !== undefined))).toEqual([])
    expect(events.find(({ action, exit_code: code }) => action === 'die' && code === 137)?.container).toMatch(/oom/)
  })
})
