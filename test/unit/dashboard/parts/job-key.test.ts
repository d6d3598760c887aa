// From a layer in the chart of a GPU to the page of its job.
import { expect, test } from 'vitest'
import { jobOf } from '../../../../dashboard/src/parts/job/identity.ts'
import { jobKeyOf } from '../../../../dashboard/src/parts/job/key.ts'
import { containerKey, outsideKey } from '../../../../dashboard/src/text/names.ts'

test.each([{ container: 'trainer-1' }, { container: 'vllm', namespace: 'serving', pod: 'chat-7' }, { slurm_job: '4812' }, { unit: 'session-3.scope' }])(
  '%o: the key of its row',
  (owner) => {
    expect(jobKeyOf('container' in owner ? containerKey(owner) : outsideKey(owner))).toBe(jobOf(owner).key)
  },
)

test('a program outside of all these is no job', () => {
  expect(jobKeyOf(outsideKey({ process: 'python' }))).toBeUndefined()
})
