// The port that serves the dashboard, /metrics, the API and the live stream.
import { list, onOff, text, wholeNumber } from '../field.ts'

/** `127.0.0.1:9839`, `[::1]:9839`, `localhost:0`, `:9839` (all addresses). */
const ADDRESS = /^(\[[0-9a-zA-Z:.%]+\]|[^\s:[\]]*):(\d|[1-9]\d{1,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])$/

export const http = {
  description: 'Dashboard, /metrics, API and live stream, on one port.',
  fields: {
    listen: text({
      default: '127.0.0.1:9839',
      pattern: ADDRESS,
      expected: 'ADDRESS:PORT such as 127.0.0.1:9839 or [::1]:9839 (port 0 takes a free one)',
      description: 'ADDRESS:PORT. Any address but loopback needs a token, or insecure: true.',
    }),
    token: text({
      default: '',
      pattern: /^[\x21-\x7e]*$/,
      expected: 'printable ASCII without spaces',
      secret: true,
      description: 'Clients send it as "Authorization: Bearer TOKEN"; empty = none. Set it in the environment (WARPWATCH_HTTP__TOKEN) rather than here.',
    }),
    insecure: onOff({ default: false, description: 'Serve other hosts without a token.' }),
    allowed_origins: list({
      default: [],
      expected: 'a list of origins such as https://grafana.example.org',
      description: "Origins of other sites' pages that may read the API and the stream.",
    }),
    allowed_hosts: list({
      default: [],
      expected: 'a list of host names',
      description: 'Host names that may be used in requests to this port, beside its own addresses (guards against DNS rebinding).',
    }),
    max_readers: wholeNumber({ default: 1_000, min: 1, max: 100_000, description: 'Limit of readers of the live stream; further ones are refused.' }),
  },
}
