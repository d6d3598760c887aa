// Ports that are taken; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['port_in_use']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'the rendezvous',
    text: 'RuntimeError: The server socket has failed to listen on any local network address. port: 29501, useIpv6: 0, code: -98, name: EADDRINUSE, message: address already in use',
    kinds: one,
    facts: { port: 29501, errno: 98 },
  },
  {
    name: 'an API server',
    text: "OSError: [Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address already in use",
    kinds: one,
    facts: { port: 8000 },
  },
  {
    name: 'an engine',
    text: 'Error response from daemon: failed to bind host port for 0.0.0.0:8080:172.17.0.2:80/tcp: address already in use',
    kinds: one,
    facts: { port: 8080 },
  },
  {
    name: 'a range of ports',
    text: 'OSError: Cannot find empty port in range: 7861-7861. Name another one.',
    kinds: one,
    facts: { port: 7861 },
  },
  { name: 'quiet: words', text: 'The address is not in use any more; the next run may bind it.', kinds: [] },
]
