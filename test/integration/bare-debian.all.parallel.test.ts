// The README's first commands where nothing else is: Debian 12 with its own git, Node 18 and npm 9, an ordinary user, no compiler, no GPU.
// Long: about 60 s.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { VERSION } from '../../agent/lib/version.ts'
import { SHORT_PAST } from '../setup/agent.ts'
import { bareDebianMissing, startBareDebian, type BareDebian } from '../setup/bare-debian.ts'
import { poll } from '../setup/poll.ts'

describe.skipIf(bareDebianMissing !== undefined)(`a bare Debian 12${bareDebianMissing === undefined ? '' : ` (${bareDebianMissing})`}`, () => {
  let host: BareDebian
  beforeAll(async () => {
    host = await startBareDebian()
  }, 1_800_000)
  afterAll(() => host?.close())

  test('has Node 18, npm 9, and no compiler', async () => {
    expect((await host.run('node --version && npm --version')).stdout).toMatch(/^v18\.\d+\.\d+\n9\.\d+\.\d+\n$/)
    expect((await host.run('command -v cc gcc make')).stdout).toBe('')
  })

  test('a fresh clone installs, builds and starts', async () => {
    const { status, stdout, stderr } = await host.run('git clone --quiet /srv warpwatch && cd warpwatch && npm start --silent -- --version')
    expect({ status, stdout, stderr }).toMatchObject({ status: 0, stdout: `${VERSION}\n` })
    // The steps, and nothing of npm's own.
    expect(
      stderr
        .replaceAll(/\d+\.\d+\.\d+/g, 'N')
        .trimEnd()
        .split('\n'),
    ).toEqual([
      'warpwatch: this is Node N: fetching a newer one for this folder (once, about 5 s) …',
      'warpwatch: installing packages (once, about 20 s) …',
      'warpwatch: building (about 5 s) …',
    ])
    // What was made is ignored, and the Node that ran npm is gone.
    expect((await host.run('cd warpwatch && git status --porcelain && ls .cache')).stdout).toBe('')
  }, 1_800_000)

  /** Starts the agent with the README's command; gives its address and what it has printed. */
  async function started(command: string) {
    const npm = host.start(`cd warpwatch && exec ${command}`, { WARPWATCH_HTTP__LISTEN: '127.0.0.1:0', ...SHORT_PAST })
    const awaited = { what: () => `the agent; it said ${npm.said()}`, deadlineMs: 60_000 }
    const url = await poll(() => /http:\/\/127\.0\.0\.1:\d+/.exec(npm.said())?.[0], awaited)
    return { ...npm, url, awaited }
  }

  test('npm start watches the host, and says how to see it with GPUs', async () => {
    const { url, said, stop, awaited } = await started('npm start')
    await poll(async () => (await fetch(`${url}/readyz`)).status === 200, awaited)
    await poll(() => /^GPUs +none: .* npm start -- --simulate$/m.test(said()), awaited)
    expect(said()).not.toContain('installing')
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/^warpwatch_host_memory_total_bytes/m)
    expect(await (await fetch(url)).text()).toContain('<title>')
    await stop()
    await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed')
  })

  test('npm start -- --simulate shows eight GPUs', async () => {
    const { url, stop, awaited } = await started('npm start -- --simulate')
    const cards = async (): Promise<number> => (await (await fetch(`${url}/metrics`)).text()).match(/^warpwatch_gpu_info\{/gm)?.length ?? 0
    expect(await poll(async () => (await cards()) || undefined, awaited)).toBe(8)
    await stop()
  })

  test('npm test runs what needs nothing else, and names what it skips', async () => {
    const { status, stdout, stderr } = await host.run(
      'cd warpwatch && npm test -- test/unit/store/maintenance test/unit/nvml/readings test/integration/bare-debian',
      { NO_COLOR: '1' },
    )
    expect({ status, stdout, stderr }).toMatchObject({ status: 0 })
    expect(stderr).toMatch(/^warpwatch: not root on Debian, so the tests that need .*gcc.* are skipped$/m)
    expect(stdout).toMatch(/Tests +\d+ passed \| \d+ skipped/)
  })
})
