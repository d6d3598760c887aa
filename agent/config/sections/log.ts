// What the agent says on stderr.
import { LOG_FORMATS, LOG_LEVELS } from '../../lib/log.ts'
import { choice } from '../field.ts'

export const log = {
  description: "The agent's own log, on stderr.",
  fields: {
    level: choice(LOG_LEVELS, {
      default: 'info',
      description: 'debug: what the agent connects to, reads and sends. warn: something is missing, the rest works. error: you must act.',
    }),
    format: choice(LOG_FORMATS, {
      default: 'text',
      description: 'json: one object per line with time, level, part and message.',
    }),
  },
}
