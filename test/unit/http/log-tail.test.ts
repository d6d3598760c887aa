// The log of a container over HTTP: who may read it, what is asked for, and refusals in words.
import { expect, test } from 'vitest'
import { get, runServer } from './running.ts'

const ID = 'aaaaaaaaaaaa'
const LINES = { lines: [{ t: 5, text: 'epoch 3' }], next: 7 }
const logTail = (id: string, after: number) => (id.startsWith(ID) ? { ...LINES, next: Math.max(after, 7) } : undefined)

test('gives the lines after a number', async () => {
  await using running = await runServer({ http: { logTail } })
  const answer = await get(`${running.url}/api/v1/containers/${ID}/log?after=9`)
  expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { ...LINES, next: 9 }])
})
test.each([
  [`${ID}/log?after=-1`, 400, 'after: must be a whole number'],
  [`${ID}/log?after=x`, 400, 'after: must be a whole number'],
  ['ffffffffffff/log', 404, 'is not known'],
  ['trainer/log', 404, 'is not known'],
])('%s is refused with %d', async (path, status, says) => {
  await using running = await runServer({ http: { logTail } })
  const answer = await get(`${running.url}/api/v1/containers/${path}`)
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(says)])
})
test('a container that printed nothing has an empty log', async () => {
  await using running = await runServer({ http: { logTail: () => undefined } })
  const [row] = JSON.parse((await get(`${running.url}/api/v1/containers`)).text)
  const answer = await get(`${running.url}/api/v1/containers/${row.container_id}/log`)
  expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { lines: [], next: 0 }])
})
test('where the configuration keeps none, it says so', async () => {
  await using running = await runServer({ http: { logTail: undefined } })
  const answer = await get(`${running.url}/api/v1/containers/${ID}/log`)
  expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('logs.tail: false')])
})
test('on a port that is open without a token nobody reads it, of this host or of another', async () => {
  await using running = await runServer({ http: { logTail, listen: '0.0.0.0:0', token: '', insecure: true } })
  for (const path of [`/api/v1/containers/${ID}/log`, `/hosts/other/api/v1/containers/${ID}/log`]) {
    const answer = await get(`${running.url}${path}`)
    expect([path, answer.status, answer.text]).toEqual([path, 403, expect.stringContaining('set http.token')])
  }
  expect((await get(`${running.url}/api/v1/gpus`)).status).toBe(200)
})
test('with a token it takes the token', async () => {
  await using running = await runServer({ http: { logTail, token: 'secret-token' } })
  const url = `${running.url}/api/v1/containers/${ID}/log`
  expect((await get(url)).status).toBe(401)
  expect((await get(url, { authorization: 'Bearer secret-token' })).status).toBe(200)
})
