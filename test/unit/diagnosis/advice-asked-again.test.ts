// Messages of clusters and servers that stand alone in a question. All texts are written for this test.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

test.each([
  ['kubectl without a login', 'error: You must be logged in to the server (Unauthorized)', 'permission_denied', /kubectl config get-contexts/],
  [
    'an event of the kubelet',
    '  Warning  BackOff  3s (x9 over 2m)  kubelet  Back-off restarting failed container fit in pod fit-0_lab(0b1c22d4)',
    'job_failed',
    /kubectl logs fit-0 -n lab -c fit --previous/,
  ],
  ['srun alone says it', 'srun: error: gpu07: task 0: Out Of Memory', 'host_oom_kill', /task 0 on gpu07/],
  [
    'a server that is not there yet',
    "curl: (7) Failed to connect to localhost port 8000 after 0 ms: Couldn't connect to server",
    'network_error',
    /-p 8000:8000[^]*sport = :8000/,
  ],
  ['a server inside a container', 'curl: (56) Recv failure: Connection reset by peer', 'network_error', /--host 0\.0\.0\.0/],
])('%s', (_, text, kind, wanted) => {
  const found = answer(text)
  expect(found.kind).toBe(kind)
  expect(found.all).toMatch(wanted)
})

test.each([
  ['another host', 'curl: (7) Failed to connect to mirror.example.org port 443 after 3 ms: No route to host'],
  [
    'the end itself is told',
    '    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n  Warning  BackOff  3s  kubelet  Back-off restarting failed container fit in pod fit-0_lab(0b1c)',
  ],
])('left alone: %s', (_, text) => {
  expect(answer(text).all).not.toMatch(/Nothing listens|crashes again and again/)
})
