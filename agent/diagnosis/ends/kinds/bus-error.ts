// A process ended by SIGBUS: memory that is mapped has nothing behind it.
import { WEIGHT, place, says, who, type EndKind } from '../end-kind.ts'

export const busError: EndKind = {
  kind: 'bus_error',
  stage: 'crash',
  severity: 'critical',
  claims: says(/terminated with signal SIGBUS|killed by signal: Bus error|^Bus error/, WEIGHT.message, () => ({ signal: 'SIGBUS' })),
  title: (context) => `Bus error${place(context)}`,
  verdict: (context) =>
    `${who(context, 'A process')} crashed with a bus error (SIGBUS)${place(context)}: in a container most often /dev/shm is full; else a mapped file was cut, or its disk is full.`,
  remedies: ({ situation }) => [
    { text: 'See how large and how full shared memory and the disks are, where the job runs.', command: 'df -h /dev/shm /tmp .' },
    situation.programs.has('kubernetes')
      ? { text: 'In a pod mount a larger /dev/shm: an emptyDir with medium: Memory.' }
      : { text: 'In a container raise shared memory: 64 MiB are the default.', command: 'docker run --shm-size=16g <IMAGE>' },
    { text: 'Use fewer DataLoader workers, or pass tensors through files: torch.multiprocessing.set_sharing_strategy("file_system").' },
  ],
}
