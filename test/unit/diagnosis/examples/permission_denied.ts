// Ends of jobs of the kind permission_denied; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'a folder',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nPermissionError: [Errno 13] Permission denied: \'/mnt/out/run9\'',
    kinds: ['permission_denied'],
    facts: { path: '/mnt/out/run9', errno: 13 },
  },
  {
    name: 'a read-only mount',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nOSError: [Errno 30] Read-only file system: \'/ro/logs\'',
    kinds: ['permission_denied'],
    facts: { errno: 30, path: '/ro/logs' },
  },
  { name: 'a script that cannot be executed', text: 'sh: 1: /srv/entry.sh: Permission denied', kinds: ['permission_denied'] },
  {
    name: 'quiet: another way is taken',
    text: '2026-03-02 10:00:00,000 WARNING cache: Permission denied for /var/cache, using /tmp\n2026-03-02 10:00:01,000 INFO cache: ready',
    kinds: [],
  },
  { name: 'a script that may not be executed, alone', text: './run.sh: Permission denied', kinds: ['permission_denied'] },
  { name: 'zsh says it the other way round', text: 'zsh: permission denied: ./run.sh', kinds: ['permission_denied'] },
  {
    name: 'a service refuses',
    text: 'tracker.errors.CommError: It appears that you do not have permission to access the project lab/runs.',
    kinds: ['permission_denied'],
  },
  {
    name: 'a registry that refuses a pod',
    text: 'Warning  Failed  2s  kubelet  Failed to pull image "reg.acme.org/a/b:v1": failed to pull and unpack image "reg.acme.org/a/b:v1": failed to resolve reference "reg.acme.org/a/b:v1": unexpected status from HEAD request to https://reg.acme.org/v2/a/b/manifests/v1: 403 Forbidden',
    kinds: ['permission_denied'],
  },
  {
    name: 'a registry that refuses enroot',
    text: 'slurmstepd: error: pyxis:     [ERROR] URL https://nvcr.io/proxy_auth returned error code: 403 Forbidden\nslurmstepd: error: pyxis: failed to import docker image',
    kinds: ['permission_denied'],
  },
]
