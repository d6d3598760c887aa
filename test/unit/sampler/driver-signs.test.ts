// What speaks for a driver of NVIDIA's, by the paths that hosts with one have.
import { expect, test } from 'vitest'
import { showsDriver } from '../../../agent/sources/gpu/driver-signs.ts'

const ROOTS = { sys: '/host/sys', proc: '/host/proc' }
test.each([
  ['a host whose module is loaded', ['/host/sys/module/nvidia']],
  ['a container that sees /proc of a host with a driver', ['/host/proc/driver/nvidia']],
  ['WSL2', ['/dev/dxg']],
  ['a Jetson', ['/dev/nvhost-ctrl-gpu', '/dev/nvmap']],
])('%s: a try is worth it', (_, paths) => {
  expect(showsDriver(ROOTS, (path) => paths.includes(path))).toBe(true)
})

test('a host with other things in its folders: none', () => {
  expect(
    showsDriver(ROOTS, (path) => ['/host/sys/module/amdgpu', '/host/proc/driver', '/dev/dri', '/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1'].includes(path)),
  ).toBe(false)
})
