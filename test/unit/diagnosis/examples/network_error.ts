// Ends of jobs of the kind network_error; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'a name that cannot be resolved',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nurllib.error.URLError: <urlopen error [Errno -2] Name or service not known>',
    kinds: ['network_error'],
    facts: { exception: 'URLError', errno: -2 },
  },
  {
    name: 'members that do not come',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\ntorch.distributed.DistStoreError: Timed out after 301 seconds waiting for clients. 3/8 clients joined.',
    kinds: ['network_error'],
    facts: { exception: 'DistStoreError' },
  },
  {
    name: 'c10d alone',
    text: '[E socket.cpp:957] [c10d] The client socket has timed out after 60s while trying to connect to (10.0.0.1, 29500).\nTraceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\ntorch.distributed.DistNetworkError: The client socket has failed to connect to any network address of (10.0.0.1, 29500).',
    kinds: ['network_error'],
    facts: { port: 29500 },
  },
  {
    name: 'quiet: it is tried again',
    text: '2026-03-02 10:00:00,000 WARNING up: Connection refused, retrying in 2 s\n2026-03-02 10:00:02,000 INFO up: sent',
    kinds: [],
  },
  {
    name: "Go's resolver",
    text: 'Error: pull model manifest: Get "https://registry.example.com/v2/m/manifests/latest": dial tcp: lookup registry.example.com on 127.0.0.53:53: server misbehaving',
    kinds: ['network_error'],
  },
  {
    name: 'a certificate',
    text: `requests.exceptions.SSLError: HTTPSConnectionPool(host='hub.example.org', port=443): Max retries exceeded with url: /x (Caused by SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate')))`,
    kinds: ['network_error'],
  },
  {
    name: 'a store by its name',
    text: 'redis.exceptions.ConnectionError: Error 111 connecting to queue-1:6380. Connection refused.',
    kinds: ['network_error'],
    facts: { port: 6380, errno: 111 },
  },
  {
    name: 'Omni-Path',
    text: "node-b.4242PSM2 can't open hfi unit: -1 (err=23)\n--------------------------------------------------------------------------\nIt looks like MPI_INIT failed for some reason; your parallel process is\nlikely to abort.",
    kinds: ['network_error'],
  },
  {
    name: 'UCX without its name',
    text: '[node-b:4242:0:4242] ib_mlx5_log.c:143  Transport retry count exceeded on mlx5_1:1/IB (synd 0x15 vend 0x81 hw_synd 0/0)\nmpirun noticed that process rank 3 with PID 4242 on node node-b exited on signal 6 (Aborted).',
    kinds: ['network_error'],
  },
  {
    name: 'quiet: Omni-Path is not there, and it goes on',
    text: 'node-b.4242PSM2 no hfi units are active (err=23)\nWARNING: no active ports detected; the openib BTL will be ignored\nstep 10 of 90: loss 2.1\nstep 20 of 90: loss 2.0',
    kinds: [],
  },
  {
    name: 'UCX, a rank before each line',
    text: '2: [1700000000.123456] [shore3:4242:0]   ucp_rkey.c:250  UCX  ERROR Failed to unpack remote key from remote md[2]: Input/output error',
    kinds: ['network_error'],
  },
]
