// Containers: who they are and what they use.
import { list, onOff, text } from '../field.ts'

export const containers = {
  description: 'Containers. Names come from the engine, numbers from the kernel; without an engine the ids remain.',
  fields: {
    enabled: onOff({ default: true, description: 'Watch containers.' }),
    engines: list({
      default: ['/var/run/docker.sock', '/run/podman/podman.sock'],
      expected: 'a list of socket paths',
      description: 'Sockets of container engines; one that is not there is passed over.',
    }),
    cgroup_root: text({ default: '/sys/fs/cgroup', description: "Where the host's cgroups are mounted." }),
  },
}
