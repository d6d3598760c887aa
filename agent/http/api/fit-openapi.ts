// The description of /api/v1/fit: its query is made from the settings that the command line has too.
import type * as z from 'zod'
import { SETTINGS, type SettingSpec } from '../../fit/settings.ts'
import { error } from './schemas.ts'
import { config, report } from './fit-schemas.ts'

function schemaOf(spec: SettingSpec): unknown {
  if (spec.kind === 'choice') return { type: 'string', enum: spec.values }
  return spec.kind === 'count' ? { type: 'integer', minimum: spec.least, maximum: spec.most } : { type: 'number', exclusiveMinimum: 0, maximum: 1 }
}

const word = (name: string, description: string): unknown => ({ name, in: 'query', description, schema: { type: 'string' } })
const PARAMETERS: readonly unknown[] = [
  word('params', 'Number of parameters such as 8b; needed where no config is posted.'),
  word('gpu', 'Cards by name instead of those of this host, joined by commas.'),
  word('name', 'What to call the model.'),
  ...Object.entries(SETTINGS).map(([name, spec]) => ({ name, in: 'query', description: spec.help, schema: schemaOf(spec) })),
]

type Describe = { readonly json: (schema: unknown, description: string) => unknown; readonly refTo: (schema: z.ZodType) => unknown }

export function fitPath({ json, refTo }: Describe): unknown {
  const responses = {
    '200': json(refTo(report), 'What it needs, and whether each GPU has it'),
    '400': json(refTo(error), 'The query or the config is wrong'),
    '401': json(refTo(error), 'A token is needed'),
  }
  return {
    get: { operationId: 'fitModel', summary: 'Does a model fit, by its size', parameters: PARAMETERS, responses },
    post: {
      operationId: 'fitModelConfig',
      summary: 'Does a model fit, by its config.json',
      parameters: PARAMETERS,
      requestBody: { required: true, content: { 'application/json': { schema: refTo(config) } } },
      responses: {
        ...responses,
        '403': json(refTo(error), 'Another origin'),
        '413': json(refTo(error), 'It has more than 1 MiB'),
        '415': json(refTo(error), 'It is not JSON'),
      },
    },
  }
}
