// What the kernel prints when a control group reaches its memory limit (mm/oom_kill.c, since 5.0), so that readers of its log find what they would find on a real host.

export type OomKillText = {
  readonly process: string
  readonly pid: number
  readonly group: string
  readonly limitBytes: number
}

const kib = (bytes: number): number => Math.floor(bytes / 1_024)

export function oomKillLines({ process, pid, group, limitBytes }: OomKillText): readonly string[] {
  const limit = kib(limitBytes)
  const scope = group.slice(group.lastIndexOf('/') + 1)
  return [
    `${process} invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0`,
    `memory: usage ${limit}kB, limit ${limit}kB, failcnt 1893`,
    `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=${scope},mems_allowed=0-1,oom_memcg=${group},task_memcg=${group},task=${process},pid=${pid},uid=0`,
    `Memory cgroup out of memory: Killed process ${pid} (${process}) total-vm:${Math.floor(1.4 * limit)}kB, anon-rss:${Math.floor(0.98 * limit)}kB, file-rss:18432kB, shmem-rss:0kB, UID:0 pgtables:${Math.floor(limit / 500)}kB oom_score_adj:0`,
  ]
}

/** Where containerd's kubelet (systemd driver) puts a container; the pod's uid is made from the container's id. */
export function podGroup(id: string): string {
  const uid = [id.slice(0, 8), id.slice(8, 12), id.slice(12, 16), id.slice(16, 20), id.slice(20, 32)].join('_')
  return `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${uid}.slice/cri-containerd-${id}.scope`
}
