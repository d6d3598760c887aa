// For how long a server has let requests run out of time: each takes its two seconds here too.
import { expect, test } from 'vitest'
import { webServer } from '../../setup/web-server.ts'
import { HOLDER, run, values, vllm, vllmPages } from './scene.ts'

test('how long one that answered before has let all requests run out of time; nothing of that before its first answer', async () => {
  let isStuck = true
  const server = await webServer((request, answer) => {
    if (!isStuck) answer.end(vllmPages()[request.url ?? ''] ?? '{}')
  })
  const { round } = run(vllm(Number(new URL(server.url).port)), [HOLDER])
  expect(values(await round())).not.toHaveProperty('unanswered_seconds')
  isStuck = false
  expect(values(await round())).toMatchObject({ unanswered_seconds: 0, requests_running: 2 })
  isStuck = true
  expect(values(await round())).toMatchObject({ unanswered_seconds: 0 })
  const later = values(await round(60_000))
  expect(later).toMatchObject({ unanswered_seconds: 60 })
  expect(later).not.toHaveProperty('requests_running')
  isStuck = false
  expect(values(await round(60_000))).toMatchObject({ unanswered_seconds: 0, requests_running: 2 })
})

test('a connection that is refused, or a page that breaks off, is no silence', async () => {
  let isBroken = false
  const server = await webServer((request, answer) => {
    if (isBroken) answer.destroy()
    else answer.end(vllmPages()[request.url ?? ''] ?? '{}')
  })
  const { round } = run(vllm(Number(new URL(server.url).port)), [HOLDER])
  await round()
  isBroken = true
  for (let count = 0; count < 4; count++) await round(60_000)
  expect(values(await round(60_000))).toMatchObject({ unanswered_seconds: 0 })
  await server.close()
  expect(values(await round(60_000))).toMatchObject({ unanswered_seconds: 0 })
})
