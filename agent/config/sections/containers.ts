// Containers: who they are and what they use.
import { list, onOff, text } from '../field.ts'

export const containers = {
  description: 'Containers. Names come from the engine, numbers from the kernel; without an engine the ids remain.',
  fields: {
    enabled: onOff({ default: true, description: 'Watch containers.' }),
    engines: list({
      default: ['auto'],
      expected: 'a list of socket paths, or auto',
      description: 'Sockets of container engines; auto = the usual places of Docker and Podman, rootless ones too. An empty list uses no engine.',
    }),
    pod_resources_socket: text({
      default: '/var/lib/kubelet/pod-resources/kubelet.sock',
      description: 'Socket of the kubelet that lists the GPUs of each pod; where it does not exist, the host is no Kubernetes node. Empty = off.',
    }),
    user_labels: list({
      default: ['warpwatch.user'],
      expected: 'a list of names of labels',
      description: 'Labels of a container that name who uses it; the first that it has counts. Without one it is the user of its image.',
    }),
    cgroup_root: text({ default: '/sys/fs/cgroup', description: "Where the host's cgroups are mounted." }),
  },
}
