// Model caches that cannot be written; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['cache_permission']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'Python',
    text: "PermissionError: [Errno 13] Permission denied: '/home/app/.cache/huggingface/hub'",
    kinds: one,
    facts: { errno: 13, path: '/home/app/.cache/huggingface/hub' },
  },
  {
    name: 'Transformers',
    text: 'There was a problem when trying to write in your cache folder (/nonexistent/.cache/huggingface/hub). You should set the environment variable HF_HOME to a writable directory.',
    kinds: one,
    facts: { path: '/nonexistent/.cache/huggingface/hub' },
  },
  {
    name: 'the hub',
    text: 'OSError: PermissionError at /srv/.cache/huggingface/hub when downloading org/model',
    kinds: one,
    facts: { path: '/srv/.cache/huggingface/hub' },
  },
  { name: 'the shell, the path first', text: "mkdir: cannot create directory '/root/.cache': Permission denied", kinds: one, facts: { path: '/root/.cache' } },
  {
    name: 'numba',
    text: "RuntimeError: cannot cache function 'run': no locator available for file '/opt/app/run.py'",
    kinds: one,
    facts: { path: '/opt/app/run.py' },
  },
  { name: 'read-only', text: "OSError: [Errno 30] Read-only file system: '/app/.cache/huggingface'", kinds: one, facts: { errno: 30 } },
  { name: 'another kind: another folder', text: "PermissionError: [Errno 13] Permission denied: '/etc/shadow'", kinds: ['permission_denied'] },
  { name: 'quiet: ssh', text: 'Permission denied (publickey,password).', kinds: [] },
  {
    name: 'quiet: Matplotlib helped itself',
    text: 'Matplotlib created a temporary cache directory at /tmp/matplotlib-x1 because the default path (/srv/.config/matplotlib) is not a writable directory',
    kinds: [],
  },
]
