// The page of idle and lost time names jobs as the other views do.
import { expect, test } from 'vitest'
import { jobName } from '../../../dashboard/src/features/waste/names.ts'

const RERANKER = { container: 'search-reranker-1', compose_project: 'search', compose_service: 'reranker' }

test.each([
  ['the one container of a service', [RERANKER, { container: 'finetune' }], 'search-reranker-1'],
  ['a service with two containers', [RERANKER, { ...RERANKER, container: 'search-reranker-2' }], 'reranker'],
  ['a service that runs no more', [{ container: 'finetune' }], 'reranker'],
])('%s', (_, containers, name) => {
  expect(jobName('reranker', containers)).toBe(name)
})

test.each([
  ['the one pod of that name', [{ namespace: 'search', pod: 'reranker-0', container: 'reranker' }], 'search/reranker-0'],
  [
    'pods of that name in two namespaces',
    [
      { namespace: 'search', pod: 'reranker-0' },
      { namespace: 'lab', pod: 'reranker-0' },
    ],
    'reranker-0',
  ],
  [
    'two containers of one pod',
    [
      { namespace: 'search', pod: 'reranker-0' },
      { namespace: 'search', pod: 'reranker-0', container: 'proxy' },
    ],
    'search/reranker-0',
  ],
])('%s', (_, containers, name) => {
  expect(jobName('reranker-0', containers)).toBe(name)
})
