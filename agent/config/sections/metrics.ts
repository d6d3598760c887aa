// What stands on /metrics beside the agent's own names.
import { choice } from '../field.ts'

export const metrics = {
  description: "Names of dcgm-exporter beside Warpwatch's own, so that existing dashboards and rules go on working.",
  fields: {
    dcgm: choice(['classic', '4.9', 'both', 'off'], {
      default: 'classic',
      description: 'classic: names and labels up to dcgm-exporter 4.8. "4.9": those from 4.9 on.',
    }),
    hostname_label: choice(['Hostname', 'hostname', 'both'], {
      default: 'Hostname',
      description: 'Under which label the dcgm series carry the host (dcgm-exporter changed it from Hostname to hostname).',
    }),
  },
}
