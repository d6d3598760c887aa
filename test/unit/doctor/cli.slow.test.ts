// `warpwatch doctor` as its users run it: exit codes, JSON, choices, a bundle; on whatever host these tests run on.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { doctorReport } from '../../../agent/http/api/doctor-schemas.ts'
import { runCli, type Ended } from '../cli/run-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'warpwatch-doctor-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
/** Asks no engine, and no agent that may run here. */
const env = { WARPWATCH_CONTAINERS__ENGINES: '[]', WARPWATCH_HTTP__LISTEN: '127.0.0.1:1', WARPWATCH_DATA_DIR: folder }
const doctor = async (args: readonly string[], own: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  await runCli(['doctor', ...args], { cwd: folder, env: { ...env, ...own } })

describe('the report', () => {
  test('as JSON, and 0 where nothing failed', async () => {
    const { code, stdout, stderr } = await doctor(['--json', '--only', 'warpwatch'])
    const report = doctorReport.parse(JSON.parse(stdout))
    expect(report.checks.map(({ id }) => id)).toEqual(['own-actions', 'own-config', 'own-permissions'])
    expect([code, report.counts.fail, stderr]).toEqual([0, 0, ''])
  })
  test('as text, and 1 where something failed', async () => {
    const { code, stdout } = await doctor(['--only', 'gpu-on-bus'], { WARPWATCH_GPU__EXPECTED_GPUS: '1000' })
    expect(stdout).toMatch(/^FAIL {2}expected 1000 GPUs \(gpu\.expected_gpus\), the bus has \d+ {2}\[gpu-on-bus\]\n.*→ See what the bus has/s)
    expect(code).toBe(1)
  })
  test('the list of checks', async () => {
    const { code, stdout } = await doctor(['--list'])
    expect(stdout).toMatch(/^host +driver-loaded +checks that NVIDIA's kernel module is loaded/m)
    expect(code).toBe(0)
  })
})

describe('compose files', () => {
  test('all that are named, in one flag or several; what cannot be read ends nothing', async () => {
    for (const name of ['a.yml', 'b.yml', 'c.yml']) writeFileSync(join(folder, name), 'services: {}\n')
    const { code, stderr } = await doctor(['--compose', 'a.yml', 'b.yml', '--compose=c.yml', '--only', 'own-config', '-v'])
    expect([code, stderr]).toEqual([0, ''])
  })
})

describe('wrong usage is 2, in one line', () => {
  test.each([
    [['--only', 'nouveaux'], /--only: "nouveaux" is not a check or a group; did you mean nouveau\?/],
    [['--skip', 'x,y'], /--skip: "x" is not a check/],
    [['--container', 'none-of-that-name'], /--container: expected a container of the name or id "none-of-that-name"/],
    [['--config', 'none.yaml'], /none\.yaml/],
    [['--compose'], /--compose: its value is missing: give FILE…/],
    [['stray'], /unexpected argument "stray"/],
  ])('%j', async (args, words) => {
    const { code, stdout, stderr } = await doctor(args)
    expect(stderr).toMatch(words)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    expect([code, stdout]).toEqual([2, ''])
  })
})

describe('the bundle', () => {
  const archive = join(folder, 'bundle.tar.gz')
  const secret = 'Zq7pT0kEnZq7pT0kEn'
  test('holds the report and what stands around it, and nothing that tells whose it is', async () => {
    const { stderr, code } = await doctor(['--only', 'warpwatch', '--bundle', archive], {
      WARPWATCH_HTTP__TOKEN: secret,
      WARPWATCH_HOST_NAME: 'gpu-node-17',
      WARPWATCH_OTLP__ENDPOINT: 'https://collector.corp.example.com:4318',
      USER: 'liddell',
      HOME: '/home/liddell',
    })
    expect(stderr).toMatch(/bundle\.tar\.gz: 9 files/)
    expect(code).toBe(0)
    expect(statSync(archive).mode & 0o777).toBe(0o600)
    const names = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).trim().split('\n')
    expect(names.map((name) => name.replace('warpwatch-doctor/', ''))).toEqual([
      'doctor.json',
      'doctor.txt',
      'config.yaml',
      'versions.json',
      'incidents.json',
      'gaps.json',
      'sources.json',
      'nvidia-smi.txt',
      'kernel.log',
    ])
    const text = execFileSync('tar', ['-xzOf', archive], { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 })
    // A name such as `vm` is a word of kernels, too.
    const words = [secret, 'gpu-node-17', 'collector.corp', 'liddell', ...(hostname().length > 5 ? [hostname()] : [])]
    expect(words.filter((word) => text.includes(word))).toEqual([])
    expect(text).toContain('"node": "v')
    doctorReport.parse(JSON.parse(execFileSync('tar', ['-xzOf', archive, 'warpwatch-doctor/doctor.json'], { encoding: 'utf8' })))
  })
  test('is not written over what is there', async () => {
    const before = readFileSync(archive)
    const { code, stderr } = await doctor(['--only', 'own-config', '--bundle', archive])
    expect([code, stderr]).toEqual([2, `warpwatch: doctor: --bundle: ${archive}: the file cannot be made: it is there already; choose another name\n`])
    expect(readFileSync(archive).equals(before)).toBe(true)
    expect(existsSync(`${archive}.part`)).toBe(false)
  })
})
