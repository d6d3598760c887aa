// Too many open files; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['fd_limit']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  { name: 'Python', text: "OSError: [Errno 24] Too many open files: '/data/shard-0001.tar'", kinds: one, facts: { errno: 24 } },
  { name: 'shared tensors', text: 'RuntimeError: received 0 items of ancdata', kinds: one },
  { name: 'Rust', text: 'Error: Too many open files (os error 24)', kinds: one, facts: { errno: 24 } },
  { name: 'quiet: a setting', text: 'open files                          (-n) 1048576', kinds: [] },
]
