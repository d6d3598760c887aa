// Slurm jobs and pods on the DCGM_* series of a real agent: from the cgroups of the processes that the driver lists, a prolog's files, and the kubelet.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { compiler } from '../fakes/nvml/build.ts'
import { fakeUuid, FIRST_MIG_PID, h100, migH100, type FakeScenario } from '../fakes/nvml/scenario.ts'
import { startAgent, type AgentOptions, type Page } from '../setup/agent.ts'
import { startKubelet } from '../setup/kubelet.ts'
import { poll } from '../setup/poll.ts'

const folder = mkdtempSync(join(tmpdir(), 'warpwatch-jobs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** GPU 0: one job. GPU 1: two. GPU 2: none. GPU 3: two MIG instances, a job on the first. */
const SCENE: FakeScenario = {
  values: { driver: '590.48.01', nvml: '13.590.48.01', cuda: 13_010, init: 0 },
  gpus: [
    h100(0, {}, [{ pid: 501, bytes: 2 ** 30 }]),
    h100(1, {}, [
      { pid: 502, bytes: 2 ** 30 },
      { pid: 503, bytes: 2 ** 30 },
    ]),
    h100(2),
    migH100(3),
  ],
}
const V2 = (job: number) => `0::/system.slice/slurmstepd.scope/job_${job}/step_0/user/task_0`
const V1 = (job: number) => `9:memory:/slurm/uid_1000/job_${job}/step_batch\n1:name=systemd:/slurm/uid_1000/job_${job}/step_batch`

function procRoot(cgroups: Readonly<Record<number, string>>): string {
  const root = mkdtempSync(join(folder, 'proc-'))
  for (const [pid, cgroup] of Object.entries({ 2: '0::/', ...cgroups })) {
    mkdirSync(join(root, pid))
    const comm = pid === '2' ? 'kthreadd' : 'python'
    writeFileSync(join(root, pid, 'comm'), `${comm}\n`)
    writeFileSync(join(root, pid, 'stat'), `${pid} (${comm}) S 1 ${Array.from({ length: 17 }, () => 0).join(' ')} 4242 0 0\n`)
    writeFileSync(join(root, pid, 'status'), `Name:\t${comm}\nUid:\t1000\t1000\t1000\t1000\n`)
    writeFileSync(join(root, pid, 'cgroup'), `${cgroup}\n`)
  }
  return root
}
/** `gpu[.instance] job[ pod]` of each series of the power, sorted. */
const jobs = (page: Page): readonly string[] =>
  page.samples
    .filter(({ name }) => name === 'DCGM_FI_DEV_POWER_USAGE')
    .map(
      ({ labels }) =>
        `${labels['gpu']}${labels['GPU_I_ID'] === undefined ? '' : `.${labels['GPU_I_ID']}`} ${labels['hpc_job'] ?? '-'}${labels['pod'] === undefined ? '' : ` ${labels['pod']}`}`,
    )
    .toSorted()

/** What the page says as soon as it is what is wanted; throws with what it says instead. */
async function jobsOf(env: NonNullable<AgentOptions['env']>, wanted: readonly string[]): Promise<readonly string[]> {
  await using agent = await startAgent({ scenario: SCENE, env })
  let said: readonly string[] = []
  return await poll(
    async () => {
      said = jobs(await agent.metrics())
      return JSON.stringify(said) === JSON.stringify(wanted) ? said : undefined
    },
    { what: () => `${wanted.join(', ')}; it says ${said.join(', ')}`, deadlineMs: 20_000, everyMs: 100 },
  )
}

describe.skipIf(compiler === undefined)(`hpc_job (${compiler === undefined ? 'needs a C compiler' : 'stand-in for NVML'})`, () => {
  const proc = procRoot({ 501: V2(48_213), 502: V1(48_221), 503: V2(48_222), [FIRST_MIG_PID + 6]: V2(48_300), [FIRST_MIG_PID + 7]: '0::/user.slice' })

  test('is the job in whose cgroup a process holds memory, of MIG instances too', async () => {
    const wanted = ['0 48213', '1 48221', '1 48222', '2 -', '3.1 48300', '3.2 -']
    expect(await jobsOf({ WARPWATCH_HOST__PROC_ROOT: proc }, wanted)).toEqual(wanted)
  })
  test('is what the files of --hpc-job-mapping-dir say, where that is set', async () => {
    const map = join(folder, 'map')
    mkdirSync(map)
    writeFileSync(join(map, '2'), '7001\n7002\n')
    writeFileSync(join(map, '3.2'), '7003\n')
    const wanted = ['0 -', '1 -', '2 7001', '2 7002', '3.1 -', '3.2 7003']
    expect(await jobsOf({ WARPWATCH_HOST__PROC_ROOT: proc, WARPWATCH_METRICS__HPC_JOB_MAPPING_DIR: map }, wanted)).toEqual(wanted)
  })
  test('stands beside the pod that the kubelet gave a GPU or a MIG instance, with memory or without', async () => {
    const instance = 'MIG-00000000-0000-4000-9000-000000000032'
    await using kubelet = await startKubelet([
      { pod: 'idle-0', ids: [`${fakeUuid(2)}::1`] },
      { pod: 'slice-0', resource: 'nvidia.com/mig-3g.40gb', ids: [instance] },
      { pod: 'busy-0', ids: [fakeUuid(0)] },
    ])
    const env = { WARPWATCH_HOST__PROC_ROOT: proc, WARPWATCH_CONTAINERS__POD_RESOURCES_SOCKET: kubelet.socketPath }
    const wanted = ['0 48213 busy-0', '1 48221', '1 48222', '2 - idle-0', '3.1 48300', '3.2 - slice-0']
    expect(await jobsOf(env, wanted)).toEqual(wanted)
  })
  test('is absent with the option off', async () => {
    const wanted = ['0 -', '1 -', '2 -', '3.1 -', '3.2 -']
    expect(await jobsOf({ WARPWATCH_HOST__PROC_ROOT: proc, WARPWATCH_METRICS__DCGM_HOLDERS: 'off' }, wanted)).toEqual(wanted)
  })
})
