// What the agent says on stderr.
import { choice } from '../field.ts'

export const log = {
  description: "The agent's own log, on stderr.",
  fields: {
    level: choice(['info', 'warn', 'error'], { default: 'info', description: 'warn: something is missing, the rest goes on. error: somebody must act.' }),
  },
}
