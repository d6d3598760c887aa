// Where the dumps of a rank are by its environment, and what is copied of them.
import { mkdtempSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dumpPlaces, readDumps } from '../../../agent/hang/live/dumps.ts'
import { createEvidence } from '../../../agent/hang/model.ts'

const env = (entries: Readonly<Record<string, string>>): ReadonlyMap<string, string> => new Map(Object.entries(entries))

test.each([
  ['what the job says', { TORCH_FR_DUMP_TEMP_FILE: '/scratch/fr_', HOME: '/root' }, ['/scratch/fr_3']],
  ['the older name', { TORCH_NCCL_DEBUG_INFO_TEMP_FILE: 'dumps/_dump_' }, ['dumps/_dump_3']],
  [
    'the cache of the user',
    { HOME: '/home/u' },
    ['/home/u/.cache/torch/comm_lib_trace_rank_3', '/home/u/.cache/torch/nccl_trace_rank_3', '/tmp/comm_lib_trace_rank_3', '/tmp/nccl_trace_rank_3'],
  ],
  ['nothing', {}, ['/tmp/comm_lib_trace_rank_3', '/tmp/nccl_trace_rank_3']],
])('a dump lies where it is by %s', (_, entries, places) => {
  expect(dumpPlaces(env(entries), 3)).toEqual(places)
})

test('a process without dumps leaves nothing behind', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dumps-'))
  const evidence = createEvidence()
  // Its own cache folder may hold anything of other runs; none of it is of a rank 999999.
  readDumps(new Map([[999_999, process.pid]]), 0, join(folder, 'kept'), evidence)
  expect(evidence.problems).toEqual([])
  expect(readdirSync(folder)).toEqual([])
})
