// Who holds a GPU, in one line of a small card.
import { expect, test } from 'vitest'
import { holdersOf, holdersText } from '../../../dashboard/src/features/overview/dense/holders.ts'
import { container, frame, GIB, gpu } from './helpers.ts'

test('containers and what runs outside of them, the largest first', () => {
  const processes = [
    { pid: 1, process: 'python', uuid: 'GPU-0', gpu_memory_bytes: 3 * GIB },
    { pid: 2, process: 'python', uuid: 'GPU-0', gpu_memory_bytes: GIB },
    { pid: 3, process: 'inner', uuid: 'GPU-0', container_id: 'train-id', gpu_memory_bytes: 9 * GIB },
    { pid: 4, process: 'other', uuid: 'GPU-1', gpu_memory_bytes: 9 * GIB },
  ].map((row) => ({ gpu: '0', ...row }))
  const found = holdersOf(frame(0, [gpu(0), gpu(1)], [container('train', { 'GPU-0': 9 * GIB }), container('small', { 'GPU-0': GIB / 2 })], processes), 'GPU-0')
  expect(found).toEqual([
    { name: 'train', bytes: 9 * GIB },
    { name: 'python', bytes: 4 * GIB },
    { name: 'small', bytes: GIB / 2 },
  ])
  expect(holdersText(found, 2)).toBe('train 9.0 GiB, python 4.0 GiB, 1 more')
  expect(holdersText(found.slice(0, 2), 2)).toBe('train 9.0 GiB, python 4.0 GiB')
  expect(holdersOf(frame(0, [gpu(2)]), 'GPU-2')).toEqual([])
})
