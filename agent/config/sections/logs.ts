// Which logs are read.
import { list, onOff, wholeNumber } from '../field.ts'

export const logs = {
  description: 'Logs that are read for faults. After a restart reading resumes where it stopped.',
  fields: {
    containers: onOff({ default: true, description: 'Container logs, through the engine.' }),
    max_streams: wholeNumber({
      default: 64,
      min: 1,
      max: 1_024,
      description: 'How many container logs are followed as they are written; the others are read every five seconds.',
    }),
    container_files: list({
      default: [],
      expected: 'a list of paths or globs',
      description:
        'Log files of containers, json-file or CRI, such as /var/log/containers/*.log; the logs of their containers are then not read through the engine.',
    }),
    kernel: onOff({ default: true, description: "The kernel's log, /dev/kmsg: Xids, OOM kills. Needs root or CAP_SYSLOG." }),
    journald: onOff({ default: false, description: 'The journal, through journalctl.' }),
    journald_units: list({ default: [], expected: 'a list of unit names', description: 'Read only these units of the journal; empty = all.' }),
    tail: onOff({
      default: true,
      description: 'Show the last log lines of a job on the dashboard and in the API, secrets removed. Kept in memory only.',
    }),
    files: list({ default: [], expected: 'a list of paths or globs', description: 'Plain log files, such as /var/log/jobs/*.log. Rotation is followed.' }),
  },
}
