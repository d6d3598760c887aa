// Every path shape that a runtime gives its processes, with random ids, and garbage in between.
import * as fc from '../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { containerOfPath, parseCgroup, parseMountinfo } from '../../agent/attribution/cgroup-path.ts'
import type { CgroupPlace } from '../../agent/attribution/cgroup-path.ts'

const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`))
const uuid = fc.tuple(hex(8), hex(4), hex(4), hex(4), hex(12)).map((parts) => parts.join('-'))
const name = fc.stringMatching(/^[a-z][a-z0-9]{0,12}$/)
const user = fc.integer({ min: 1, max: 65_535 })
const ids = fc.record({
  id: hex(64),
  other: hex(64),
  uid: uuid,
  staticUid: hex(32),
  name,
  user,
  job: fc.integer({ min: 1, max: 99_999_999 }),
  qos: fc.constantFrom('burstable', 'besteffort'),
})
type Ids = typeof ids extends fc.Arbitrary<infer T> ? T : never

const under = (uid: string): string => uid.replaceAll('-', '_')
const both = ['0::', '11:memory:'] as const
type Row = { readonly what: string; readonly lines: readonly string[]; readonly path: (ids: Ids) => string; readonly place: (ids: Ids) => CgroupPlace }

const docker = ({ id }: Ids): CgroupPlace => ({ containerId: id, runtime: 'docker' })
const podman = ({ id }: Ids): CgroupPlace => ({ containerId: id, runtime: 'podman' })
const pod =
  (runtime?: string) =>
  ({ id, uid }: Ids): CgroupPlace => ({ containerId: id, podUid: uid, ...(runtime === undefined ? {} : { runtime }) })

const ROWS: readonly Row[] = [
  { what: 'docker, systemd driver', lines: both, path: ({ id }) => `/system.slice/docker-${id}.scope`, place: docker },
  { what: 'docker, cgroupfs driver', lines: both, path: ({ id }) => `/docker/${id}`, place: docker },
  { what: 'docker, a child cgroup inside', lines: both, path: ({ id }) => `/docker/${id}/init`, place: docker },
  { what: 'docker in docker', lines: both, path: ({ id, other }) => `/docker/${other}/docker/${id}`, place: docker },
  {
    what: 'docker rootless',
    lines: ['0::'],
    path: ({ id, user }) => `/user.slice/user-${user}.slice/user@${user}.service/user.slice/docker-${id}.scope`,
    place: docker,
  },
  { what: 'docker, a neighbour seen from a private namespace', lines: ['0::'], path: ({ id }) => `/../docker-${id}.scope`, place: docker },
  { what: 'nerdctl', lines: ['0::'], path: ({ id }) => `/system.slice/nerdctl-${id}.scope`, place: ({ id }) => ({ containerId: id, runtime: 'nerdctl' }) },
  { what: 'containerd, hex id', lines: both, path: ({ id }) => `/default/${id}`, place: ({ id }) => ({ containerId: id }) },
  {
    what: 'kubernetes, systemd driver, containerd',
    lines: both,
    path: ({ id, uid, qos }) => `/kubepods.slice/kubepods-${qos}.slice/kubepods-${qos}-pod${under(uid)}.slice/cri-containerd-${id}.scope`,
    place: pod('containerd'),
  },
  {
    what: 'kubernetes, guaranteed',
    lines: both,
    path: ({ id, uid }) => `/kubepods.slice/kubepods-pod${under(uid)}.slice/cri-containerd-${id}.scope`,
    place: pod('containerd'),
  },
  { what: 'kubernetes, cgroupfs driver', lines: both, path: ({ id, uid, qos }) => `/kubepods/${qos}/pod${uid}/${id}`, place: pod() },
  { what: 'kubernetes, guaranteed, cgroupfs driver', lines: both, path: ({ id, uid }) => `/kubepods/pod${uid}/${id}`, place: pod() },
  {
    what: 'kubernetes, CRI-O',
    lines: both,
    path: ({ id, uid, qos }) => `/kubepods.slice/kubepods-${qos}.slice/kubepods-${qos}-pod${under(uid)}.slice/crio-${id}.scope/container`,
    place: pod('cri-o'),
  },
  {
    what: 'kubernetes, containerd without slices',
    lines: both,
    path: ({ id, uid, qos }) => `/system.slice/containerd.service/kubepods-${qos}-pod${under(uid)}.slice:cri-containerd:${id}`,
    place: pod('containerd'),
  },
  {
    what: 'kind node',
    lines: both,
    path: ({ id, other, uid }) => `/docker/${other}/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod${under(uid)}.slice/cri-containerd-${id}.scope`,
    place: pod('containerd'),
  },
  {
    what: 'kubernetes with dockershim',
    lines: both,
    path: ({ id, uid }) => `/kubepods.slice/kubepods-pod${under(uid)}.slice/docker-${id}.scope`,
    place: pod('docker'),
  },
  {
    what: 'static pod',
    lines: both,
    path: ({ id, staticUid }) => `/kubepods/burstable/pod${staticUid}/${id}`,
    place: ({ id, staticUid }) => ({ containerId: id, podUid: staticUid }),
  },
  { what: 'podman', lines: both, path: ({ id }) => `/machine.slice/libpod-${id}.scope/container`, place: podman },
  { what: 'podman, older', lines: both, path: ({ id }) => `/machine.slice/libpod-${id}.scope`, place: podman },
  { what: 'podman, cgroupfs', lines: both, path: ({ id }) => `/libpod_parent/libpod-${id}`, place: podman },
  {
    what: 'podman rootless',
    lines: ['0::'],
    path: ({ id, user }) => `/user.slice/user-${user}.slice/user@${user}.service/user.slice/libpod-${id}.scope/container`,
    place: podman,
  },
  { what: "podman's monitor is no container", lines: both, path: ({ id }) => `/machine.slice/libpod-conmon-${id}.scope`, place: () => ({}) },
  {
    what: "CRI-O's monitor is in the pod, but no container",
    lines: both,
    path: ({ id, uid }) => `/kubepods.slice/kubepods-pod${under(uid)}.slice/crio-conmon-${id}.scope`,
    place: ({ uid }) => ({ podUid: uid }),
  },
  { what: 'ECS', lines: both, path: ({ id, other }) => `/ecs/${other.slice(0, 32)}/${id}`, place: ({ id }) => ({ containerId: id }) },
  { what: 'LXC, v2', lines: ['0::'], path: ({ name }) => `/lxc.payload.${name}/init.scope`, place: ({ name }) => ({ runtime: 'lxc', machine: name }) },
  { what: 'LXC, v1', lines: ['11:memory:'], path: ({ name }) => `/lxc/${name}`, place: ({ name }) => ({ runtime: 'lxc', machine: name }) },
  {
    what: 'nspawn, with an escaped dash',
    lines: both,
    path: ({ name }) => `/machine.slice/systemd-nspawn@${name}\\x2d1.service/payload`,
    place: ({ name }) => ({ runtime: 'nspawn', machine: `${name}-1` }),
  },
  {
    what: 'libvirt',
    lines: both,
    path: ({ name }) => `/machine.slice/machine-qemu\\x2d2\\x2d${name}.scope/libvirt`,
    place: ({ name }) => ({ runtime: 'qemu', machine: name }),
  },
  {
    what: 'Slurm, v2',
    lines: ['0::'],
    path: ({ job }) => `/system.slice/slurmstepd.scope/job_${job}/step_batch/user/task_0`,
    place: ({ job }) => ({ slurmJob: String(job), slurmStep: 'batch' }),
  },
  {
    what: 'Slurm, several slurmd',
    lines: ['0::'],
    path: ({ job, name }) => `/system.slice/${name}_slurmstepd.scope/job_${job}/step_0/user/task_0`,
    place: ({ job }) => ({ slurmJob: String(job), slurmStep: '0' }),
  },
  {
    what: 'Slurm, v1',
    lines: ['11:memory:'],
    path: ({ job, user }) => `/slurm/uid_${user}/job_${job}/step_extern/task_0`,
    place: ({ job }) => ({ slurmJob: String(job), slurmStep: 'extern' }),
  },
  {
    what: 'Slurm, v1 with node name',
    lines: ['11:memory:'],
    path: ({ job, user, name }) => `/slurm_${name}/uid_${user}/job_${job}`,
    place: ({ job }) => ({ slurmJob: String(job) }),
  },
  {
    what: 'a container inside a Slurm job',
    lines: ['0::'],
    path: ({ job, id }) => `/system.slice/slurmstepd.scope/job_${job}/step_0/libpod-${id}.scope`,
    place: ({ job, id }) => ({ slurmJob: String(job), slurmStep: '0', containerId: id, runtime: 'podman' }),
  },
  {
    what: 'system service',
    lines: ['0::', '1:name=systemd:'],
    path: ({ name }) => `/system.slice/${name}.service`,
    place: ({ name }) => ({ unit: `${name}.service` }),
  },
  {
    what: 'user service',
    lines: ['0::'],
    path: ({ name, user }) => `/user.slice/user-${user}.slice/user@${user}.service/app.slice/${name}.service`,
    place: ({ name }) => ({ unit: `${name}.service` }),
  },
  {
    what: 'login session',
    lines: ['0::'],
    path: ({ user }) => `/user.slice/user-${user}.slice/session-3.scope`,
    place: () => ({ session: 'session-3.scope' }),
  },
  { what: 'the root', lines: both, path: () => '/', place: () => ({}) },
]

describe('cgroup path', () => {
  for (const { what, lines, path, place } of ROWS) {
    test(`is read: ${what}`, () => {
      fc.assert(
        fc.property(ids, fc.constantFrom(...lines), (drawn, line) => {
          expect(parseCgroup(`${line}${path(drawn)}\n`)).toEqual(place(drawn))
        }),
        { numRuns: 50 },
      )
    })
  }

  test('hybrid: the controllers tell, whatever the v2 line says and in whatever order', () => {
    fc.assert(
      fc.property(ids, fc.constantFrom('/', '/system.slice/containerd.service', '/user.slice'), fc.boolean(), (drawn, other, reversed) => {
        const lines = [`12:memory:/docker/${drawn.id}`, `4:cpu,cpuacct:/docker/${drawn.id}`, '1:name=systemd:/', `0::${other}`]
        expect(parseCgroup((reversed ? lines.toReversed() : lines).join('\n'))).toEqual(docker(drawn))
      }),
    )
  })

  test('where controllers disagree, the one that counts memory is believed', () => {
    fc.assert(
      fc.property(ids, fc.boolean(), (drawn, reversed) => {
        const lines = [
          `1:name=systemd:/system.slice/docker-${drawn.other}.scope`,
          `5:devices:/docker/${drawn.other}`,
          `12:memory:/docker/${drawn.id}`,
          `0::/docker/${drawn.other}`,
        ]
        expect(parseCgroup((reversed ? lines.toReversed() : lines).join('\n'))).toEqual(docker(drawn))
      }),
    )
  })

  test('an id of another length is none', () => {
    fc.assert(
      fc.property(
        hex(64),
        fc.constantFrom(hex(12), hex(63), hex(65), hex(128)).chain((length) => length),
        (_, wrong) => {
          expect(containerOfPath(`/docker/${wrong}`)).toBeUndefined()
        },
      ),
    )
  })

  test('garbage gives an answer, never an exception', () => {
    const shreds = fc.array(
      fc.oneof(fc.string(), hex(64), fc.constantFrom('0::/', '\n', ':', '/docker/', '..', 'pod', 'kubepods', 'job_', '.scope', 'user@1.service')),
    )
    fc.assert(
      fc.property(shreds, (parts) => {
        const text = parts.join('')
        const ids = [parseCgroup(text), parseMountinfo(text)].flatMap(({ containerId }) => containerId ?? [])
        expect(ids.filter((id) => !/^[0-9a-f]{64}$/.test(id))).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  test('mountinfo names the container where the path is `0::/`', () => {
    fc.assert(
      fc.property(ids, ({ id, uid }) => {
        const line = (source: string, target: string): string => `812 790 8:1 ${source} ${target} rw,relatime - ext4 /dev/sda1 rw\n`
        expect(parseMountinfo(line('/', '/') + line(`/var/lib/docker/containers/${id}/hostname`, '/etc/hostname'))).toEqual({
          containerId: id,
          runtime: 'docker',
        })
        expect(parseMountinfo(line(`/var/lib/containers/storage/overlay-containers/${id}/userdata/hosts`, '/etc/hosts'))).toEqual({
          containerId: id,
          runtime: 'podman',
        })
        expect(parseMountinfo(line(`/var/lib/kubelet/pods/${uid}/etc-hosts`, '/etc/hosts'))).toEqual({ podUid: uid })
      }),
    )
  })
})
