// Flags of commands that read the configuration, apart from what reads it: a command that needs none loads none.
import type { FlagSpec } from '../command.ts'

export const CONFIG_FLAG: Readonly<Record<string, FlagSpec>> = {
  config: { kind: 'value', value: 'FILE', help: 'configuration file (default: ./warpwatch.yaml, /etc/warpwatch/warpwatch.yaml)' },
}

/** Flags that set a configuration key. */
export const SETTING_FLAGS: Readonly<Record<string, FlagSpec>> = {
  listen: { kind: 'value', value: 'ADDRESS:PORT', help: 'where to serve (default: 127.0.0.1:9839)' },
  'data-dir': { kind: 'value', value: 'DIR', help: 'directory of history, incidents and jobs' },
  simulate: { kind: 'optional-value', value: 'SCENARIO', help: 'simulate a host, no GPU needed (default: healthy)' },
}
