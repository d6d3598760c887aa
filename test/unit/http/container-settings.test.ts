// The settings of a container over HTTP: by short or full id, and a refusal in words for all else.
import { expect, test } from 'vitest'
import * as z from 'zod'
import { INCIDENT } from './incident-fixture.ts'
import { get, runServer } from './running.ts'

test('a container is known by the twelve hex of its id, and by all of them', async () => {
  await using running = await runServer()
  for (const id of [INCIDENT.id.slice(0, 12), INCIDENT.id.slice(0, 12).padEnd(64, '0')]) {
    const answer = await get(`${running.url}/api/v1/containers/${id}/settings`)
    expect([answer.status, JSON.parse(answer.text)]).toEqual([200, INCIDENT.evidence.container])
  }
})

test.each(['ffffffffffff', 'trainer', '..%2f'])('%s is refused with what was expected', async (id) => {
  await using running = await runServer()
  const answer = await get(`${running.url}/api/v1/containers/${id}/settings`)
  expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('is not known')])
})

test('of a container whose engine told nothing there is nothing to say, which is no error', async () => {
  await using running = await runServer({ http: { containerSettings: undefined } })
  const [row] = z.array(z.looseObject({ container_id: z.string() })).parse(JSON.parse((await get(`${running.url}/api/v1/containers`)).text))
  const answer = await get(`${running.url}/api/v1/containers/${row?.container_id}/settings`)
  expect([answer.status, answer.text]).toEqual([200, '{}'])
})
