// What all alerts have in common; who is notified of what is set in `notifiers` and `routes`.
import { duration, httpUrl, text } from '../field.ts'

export const alerts = {
  description: 'What is sent when something is wrong; who receives it is set under "notifiers" and "routes" below.',
  fields: {
    base_url: httpUrl({
      default: '',
      empty: true,
      expected: 'a URL such as https://gpu-01.example.com, or nothing',
      description:
        'Where people who read a message open the dashboard: links begin with it. Empty = the address of http.listen; where that is loopback, messages have no links and say how to reach the page.',
    }),
    heartbeat_url: httpUrl({
      default: '',
      empty: true,
      expected: 'a URL such as https://hc-ping.com/UUID, or nothing',
      secret: true,
      description: 'Called by POST while the agent samples: the service there (a dead man’s switch) alerts when the calls stop. Empty = off.',
    }),
    heartbeat_interval: duration({ default: 60_000, min: 10_000, max: 86_400_000, description: 'How often.' }),
    summary_at: text({
      default: '08:00',
      pattern: /^(?:[01]\d|2[0-3]):[0-5]\d$/,
      expected: 'a time of day such as "08:00"',
      description:
        "When summaries of waste are sent, by the host's clock: daily ones each day, weekly ones on Mondays; to whom is in routes (waste: [daily, weekly]).",
    }),
  },
}
