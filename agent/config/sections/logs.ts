// Which logs are read.
import { list, onOff, wholeNumber } from '../field.ts'

export const logs = {
  description: 'Logs that are read for faults. Each is read on from where it was left, also after a restart.',
  fields: {
    containers: onOff({ default: true, description: 'What containers print, through their engine.' }),
    max_streams: wholeNumber({
      default: 64,
      min: 1,
      max: 1_024,
      description: 'Containers whose logs are followed as they are written; those of further ones are read every five seconds.',
    }),
    container_files: list({
      default: [],
      expected: 'a list of paths or globs',
      description: 'Log files of containers, json-file or CRI, such as /var/log/containers/*.log; their containers are then not asked of the engine.',
    }),
    kernel: onOff({ default: true, description: "The kernel's log, /dev/kmsg: Xids, OOM kills. Needs root or CAP_SYSLOG." }),
    journald: onOff({ default: false, description: 'The journal, through journalctl.' }),
    journald_units: list({ default: [], expected: 'a list of unit names', description: 'Only these units of the journal; empty = all.' }),
    tail: onOff({
      default: true,
      description: 'Show the last lines of a job on the dashboard and in the API, secrets removed. Kept in memory alone.',
    }),
    files: list({ default: [], expected: 'a list of paths or globs', description: 'Plain log files, such as /var/log/jobs/*.log. Rotation is followed.' }),
  },
}
