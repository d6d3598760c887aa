// Who a pid is: real processes of this host, and a /proc of plain files for what this host does not have.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createContainerDirectory } from '../../../agent/attribution/directory.ts'
import type { ContainerDirectory } from '../../../agent/attribution/directory.ts'
import { createKubernetesLookup } from '../../../agent/attribution/kubernetes.ts'
import { createProcessIdentifier } from '../../../agent/attribution/process.ts'
import { poll } from '../../setup/poll.ts'

const ID = 'a'.repeat(64)
let base: string
let now: number
let directory: ContainerDirectory
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'warpwatch-proc-'))
  now = 0
  directory = createContainerDirectory({ kubernetes: createKubernetesLookup(join(base, 'log'), () => now) })
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const put = (
  pid: number,
  own: { readonly comm?: string; readonly ticks?: number; readonly cgroup?: string; readonly status?: string; readonly mountinfo?: string },
): void => {
  const at = join(base, 'proc', String(pid))
  mkdirSync(at, { recursive: true })
  writeFileSync(join(at, 'stat'), `${pid} (${own.comm ?? 'python'}) S ${'1 '.repeat(18)}${own.ticks ?? 500} 0 0\n`)
  writeFileSync(join(at, 'cgroup'), own.cgroup ?? '0::/\n')
  writeFileSync(join(at, 'status'), own.status ?? 'Name:\tx\nUid:\t1000\t1000\t1000\t1000\nNSpid:\t7\t1\n')
  if (own.mountinfo !== undefined) writeFileSync(join(at, 'mountinfo'), own.mountinfo)
}
const identifier = () => createProcessIdentifier({ procRoot: join(base, 'proc'), directory, now: () => now })

describe('a real process', () => {
  test.skipIf(process.platform !== 'linux')('is known by its name and gone when it has ended', async () => {
    const identify = createProcessIdentifier({ procRoot: '/proc', directory })
    const child = spawn('sleep', ['600'])
    const pid = child.pid ?? 0
    const identity = await poll(
      () => {
        const found = identify(pid)
        return found?.name === 'sleep' ? found : undefined
      },
      { what: 'the child to be sleep' },
    )
    expect(identity).toMatchObject({ pid, uid: process.getuid?.() })
    expect(identity.startTicks).toBeGreaterThan(0)
    child.kill('SIGKILL')
    await poll(() => identify(pid) === undefined, { what: 'the end of the child' })
  })

  test('a pid that cannot be is nobody', () => {
    expect(createProcessIdentifier({ procRoot: '/proc', directory })(2 ** 30)).toBeUndefined()
  })
})

describe('identity', () => {
  test('container by cgroup, inner pid, user; the name comes when the engine tells it, with a new object then only', () => {
    put(7, { cgroup: `0::/system.slice/docker-${ID}.scope\n` })
    const identify = identifier()
    const first = identify(7)
    expect(first).toEqual({ pid: 7, startTicks: 500, name: 'python', innerPid: 1, uid: 1000, container: { id: ID, name: ID.slice(0, 12) } })
    now += 1_000
    expect(identify(7)).toBe(first)
    directory.set({ id: ID, name: 'trainer', image: 'img' })
    const named = identify(7)
    expect(named?.container).toEqual({ id: ID, name: 'trainer', image: 'img' })
    directory.set({ id: ID, name: 'trainer', image: 'img' })
    now += 20_000
    expect(identify(7)).toBe(named)
  })

  test('a pid used again is another process', () => {
    put(7, { cgroup: `0::/docker/${ID}\n` })
    const identify = identifier()
    expect(identify(7)?.container?.id).toBe(ID)
    put(7, { comm: 'bash', ticks: 900, cgroup: '0::/user.slice/user-1.slice/session-3.scope\n' })
    now += 1_000
    expect(identify(7)).toMatchObject({ name: 'bash', startTicks: 900, unit: 'session-3.scope' })
    expect(identify(7)?.container).toBeUndefined()
  })

  test('a process that is moved into its container after its start is found there', () => {
    put(7, { comm: 'runc', cgroup: '0::/system.slice/containerd.service\n' })
    const identify = identifier()
    expect(identify(7)?.unit).toBe('containerd.service')
    put(7, { comm: 'python', cgroup: `0::/docker/${ID}\n` })
    now += 1_000
    expect(identify(7)?.name).toBe('python')
    now += 5_000
    expect(identify(7)?.container?.id).toBe(ID)
  })

  test('mountinfo helps where the path says nothing; Slurm jobs; units; kernel threads have nothing', () => {
    put(1, { cgroup: '0::/\n', mountinfo: `1 2 8:1 /var/lib/docker/containers/${ID}/hosts /etc/hosts rw - ext4 x rw\n` })
    put(2, { cgroup: '0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_0\n' })
    put(3, { cgroup: '0::/system.slice/ollama.service\n', status: 'Name:\tx\n' })
    put(4, { cgroup: '0::/\n', mountinfo: '' })
    const identify = identifier()
    expect(identify(1)?.container?.id).toBe(ID)
    expect(identify(2)).toMatchObject({ slurmJob: '42' })
    expect(identify(3)).toEqual({ pid: 3, startTicks: 500, name: 'python', unit: 'ollama.service' })
    expect(identify(4)).toEqual({ pid: 4, startTicks: 500, name: 'python', innerPid: 1, uid: 1000 })
  })

  test('what cannot be read is left out, the rest stands', () => {
    put(7, { cgroup: `0::/docker/${ID}\n` })
    unlinkSync(join(base, 'proc/7/status'))
    unlinkSync(join(base, 'proc/7/cgroup'))
    expect(identifier()(7)).toEqual({ pid: 7, startTicks: 500, name: 'python' })
    writeFileSync(join(base, 'proc/7/stat'), 'nonsense')
    expect(identifier()(7)).toBeUndefined()
  })
})

describe('kubernetes without its API', () => {
  const UID = '2fc932ce-fdcc-454b-97bd-aadfdeb4c340'
  test('pod, namespace and container come from the links of the kubelet, also when they come later', () => {
    put(7, { cgroup: `0::/kubepods.slice/kubepods-pod${UID.replaceAll('-', '_')}.slice/cri-containerd-${ID}.scope\n` })
    const identify = identifier()
    expect(identify(7)?.container).toEqual({ id: ID, name: ID.slice(0, 12) })
    mkdirSync(join(base, 'log/containers'), { recursive: true })
    writeFileSync(join(base, `log/containers/llm-0_ml_server-${ID}.log`), '')
    now += 6_000
    expect(identify(7)?.container).toEqual({ id: ID, name: 'server', namespace: 'ml', pod: 'llm-0' })
  })

  test('with the pod directory only, the pod is known', () => {
    put(7, { cgroup: `0::/kubepods/pod${UID}/${ID}\n` })
    mkdirSync(join(base, `log/pods/ml_llm-0_${UID}`), { recursive: true })
    mkdirSync(join(base, 'log/pods/not a pod'), { recursive: true })
    renameSync(join(base, 'log/pods/not a pod'), join(base, 'log/pods/nor_this'))
    expect(identifier()(7)?.container).toEqual({ id: ID, name: ID.slice(0, 12), namespace: 'ml', pod: 'llm-0' })
  })
})
