// How the agent reaches others over HTTP: notifiers, OTLP receivers, targets, the heartbeat's URL.
import * as z from 'zod/mini'
import { proxyUrl } from '../../lib/proxy.ts'
import { shownUrl } from '../../lib/shown-url.ts'
import { list, type Field } from '../field.ts'

const isProxy = (value: string): boolean => value === 'environment' || value === 'none' || (value.includes('://') && proxyUrl(value) !== undefined)

const proxy: Field<string> = {
  kind: 'text',
  schema: z.string().check(z.refine(isProxy)),
  default: 'environment',
  expected: 'environment, none, or a URL such as http://proxy.example.com:3128',
  description: 'The proxy; environment = as HTTPS_PROXY, HTTP_PROXY and NO_PROXY say. This host and Unix sockets are never asked through one.',
  secret: true,
  shown: (value) => (value.includes('://') ? shownUrl(value) : value),
}

export const httpClient = {
  description: 'Outgoing requests of the agent: notifiers, the heartbeat, OTLP and targets.',
  fields: {
    proxy,
    no_proxy: list({
      default: [],
      expected: 'a list of names, addresses or networks such as .example.com, 10.0.0.0/8 or db:5432',
      description: 'Hosts that are reached without the proxy, in addition to NO_PROXY. A name covers its subdomains; "*" covers everything.',
    }),
  },
}
