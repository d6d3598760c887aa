// What the OpenAPI description says of the tools for assistants, and of other hosts: through this one, and what agents tell each other.
import { EVIDENCE_PATH } from '../../model/hosts.ts'
import { MCP_PATH } from '../guards.ts'

type Parts = { readonly error: (description: string) => unknown }

const HOST = { name: 'name', in: 'path', required: true, description: 'As it is called in the configuration (hosts).', schema: { type: 'string' } }
const MASTER = {
  name: 'master',
  in: 'query',
  required: true,
  description: 'Where its ranks meet: MASTER_ADDR:MASTER_PORT.',
  schema: { type: 'string' },
}
const PATH = {
  name: 'path',
  in: 'path',
  required: true,
  description: 'Of the API of that host, behind /api/v1, such as gpus or incidents/ID; its parameters stay as they are.',
  schema: { type: 'string' },
}

export function elsewherePaths({ error }: Parts): Readonly<Record<string, unknown>> {
  return {
    [MCP_PATH]: {
      post: {
        operationId: 'queryMcp',
        summary: 'The Model Context Protocol (streamable HTTP, without sessions): read-only tools for assistants',
        requestBody: { required: true, content: { 'application/json': { schema: { type: 'object', description: 'A message of JSON-RPC 2.0.' } } } },
        responses: {
          '200': { description: 'The answer, a message of JSON-RPC 2.0', content: { 'application/json': { schema: { type: 'object' } } } },
          '400': error('The body is no JSON'),
          '401': error('A token is needed'),
          '403': error('Another origin'),
          '405': error('Only POST: no stream of events is kept'),
          '413': error('The body is too large'),
          '415': error('It is not JSON'),
        },
      },
    },
    [EVIDENCE_PATH]: {
      get: {
        operationId: 'getHangEvidence',
        summary: 'What was found out here within the last 100 s about the ranks of a job that is stuck and has ranks on other hosts',
        parameters: [MASTER],
        responses: {
          '200': { description: 'Evidence, as `warpwatch hang` saves and reads it', content: { 'application/json': { schema: { type: 'object' } } } },
          '401': error('A token is needed'),
          '404': error('Nothing is known of such a job'),
        },
      },
    },
    '/hosts/{name}/': {
      get: {
        operationId: 'getHostPage',
        summary: 'The dashboard of another host, out of this agent',
        parameters: [HOST],
        responses: { '200': { description: 'The page', content: { 'text/html': { schema: { type: 'string' } } } } },
      },
    },
    '/hosts/{name}/api/v1/{path}': {
      get: {
        operationId: 'getOfHost',
        summary: 'What another host answers, read-only; its token is added here',
        parameters: [HOST, PATH],
        responses: {
          '200': { description: 'As that host answers, with its status', content: { 'application/json': { schema: {} } } },
          '401': error('A token is needed'),
          '404': error('There is no such host, or no such path'),
          '502': error('That host does not answer'),
        },
      },
    },
  }
}
