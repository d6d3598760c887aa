// The name of a server: its container's, which may become known later, even after its engine has ended.
import { expect, test } from 'vitest'
import { HOLDER, infos, run, standIn, vllm, vllmPages } from './scene.ts'

test('a container whose name becomes known later gives its name to the server, which stays one', async () => {
  const { port } = await standIn(vllmPages())
  const { round, proc } = run(vllm(port), [HOLDER])
  expect(infos(await round())).toMatchObject([{ name: `vllm:${port}`, container: '' }])
  for (const pid of [100, 101]) proc.contain(pid, { name: 'chat' })
  expect(infos(await round())).toMatchObject([{ name: 'chat', container: 'chat', state: 'ready' }])
})

test('a server that died before its container’s name was known takes the name, and stays dead', async () => {
  const { port } = await standIn(vllmPages())
  const { round, holders, proc } = run(vllm(port), [HOLDER])
  proc.contain(100, { name: '4f1c9ab3d2e0' })
  expect(infos(await round())).toMatchObject([{ name: '4f1c9ab3d2e0' }])
  holders.pop()
  proc.end(101)
  expect(infos(await round())).toMatchObject([{ name: '4f1c9ab3d2e0', state: 'dead' }])
  proc.contain(100, { name: 'chat' })
  expect(infos(await round())).toMatchObject([{ name: 'chat', container: 'chat', state: 'dead' }])
  expect(infos(await round())).toMatchObject([{ name: 'chat', state: 'dead' }])
})
