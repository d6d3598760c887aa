// Who can be notified of incidents. The types are not known here: whoever loads the configuration passes them in.
import * as z from 'zod/mini'
import type { NotifierConfig } from '../../model/alert-settings.ts'
import type { Field } from '../field.ts'

export const notifiers: Field<readonly NotifierConfig[]> = {
  kind: 'parts',
  schema: z.custom<readonly NotifierConfig[]>((value) => Array.isArray(value)),
  expected: 'a list of notifiers',
  default: [],
  description: 'Who can be notified of incidents: each has a name, a type and the options of that type (docs/notifications.md).',
  secret: false,
  shown: (found) => found.map(({ shown }) => shown),
  example: [
    'A text may be replaced by {env: NAME} or {file: PATH}, so that no secret is here. "warpwatch alerts test NAME" sends a message.',
    '- {name: team, type: slack, url: {env: SLACK_URL}}',
  ],
}
