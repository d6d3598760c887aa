// The command line as a script sees it: exit codes, what goes to stdout and what to stderr.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { COMMANDS } from '../../../agent/cli/index.ts'
import { part } from '../../setup/rounds.ts'
import { runCli, startCli } from './run-cli.ts'

const folder = (): string => mkdtempSync(join(tmpdir(), 'warpwatch-cli-'))
const version: unknown = JSON.parse(readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8')).version

describe('help and version', () => {
  test.each([['--version'], ['config', '--version'], ['run', '--version'], ['replay', '--version']])('%s %s', async (...args) => {
    expect(await runCli(args.filter((arg) => arg !== undefined))).toEqual({ code: 0, signal: null, stdout: `${String(version)}\n`, stderr: '' })
  })

  test('--help lists every command', async () => {
    const { code, stdout, stderr } = await runCli(['--help'])
    expect([code, stderr]).toEqual([0, ''])
    for (const name of Object.keys(COMMANDS)) expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, 'm'))
    expect(stdout).toContain('--simulate[=SCENARIO]')
  })

  test.each(part(Object.keys(COMMANDS), 0))('%s --help tells its flags', async (name) => {
    const command = await COMMANDS[name]?.()
    const { code, stdout, stderr } = await runCli([name, '-h'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(command?.summary ?? 'a command')
    for (const flag of Object.keys(command?.flags ?? {})) expect(stdout).toContain(`--${flag}`)
  })
})

describe('the commands help and version', () => {
  test.each([
    [['help'], ['--help'], /^warpwatch \[command\]/],
    [['help', 'replay'], ['replay', '--help'], /^warpwatch replay FILE/],
  ])('%j prints what %j prints', async (named, flagged, start) => {
    const [answer, expected] = await Promise.all([runCli(named), runCli(flagged)])
    expect(answer).toEqual(expected)
    expect([answer.code, answer.stdout]).toEqual([0, expect.stringMatching(start)])
  })

  test('help --json lists every command with its flags', async () => {
    const { code, stdout } = await runCli(['help', '--json'])
    const { commands } = z
      .object({ commands: z.array(z.object({ name: z.string(), flags: z.array(z.object({ name: z.string() })) })) })
      .parse(JSON.parse(stdout))
    expect([code, commands.map(({ name }) => name)]).toEqual([0, Object.keys(COMMANDS)])
    expect(commands.find(({ name }) => name === 'run')?.flags.map(({ name }) => name)).toContain('--simulate')
  })

  test('version tells commit and Node, --version stays the number', async () => {
    const text = await runCli(['version'])
    expect([text.code, text.stderr]).toEqual([0, ''])
    const reported = /^warpwatch (\S+) \(commit (unknown|[0-9a-f]{7,12}(?:-dirty)?), Node (\S+), (\w+) (\w+)\)\n$/.exec(text.stdout) ?? []
    const { versions, platform, arch } = process
    expect([reported[1], reported.slice(3)]).toEqual([version, [versions.node, platform, arch]])
    const json = await runCli(['version', '--json'])
    expect(JSON.parse(json.stdout)).toMatchObject({ version, commit: reported[2], node: versions.node })
  })
})

describe('wrong usage costs one line on stderr and exit code 2', () => {
  test.each([
    [['confg'], 'unknown command confg. Did you mean config? List them: warpwatch help'],
    [['constructor'], 'unknown command constructor. List them: warpwatch help'],
    [['incid'], 'unknown command incid. Did you mean incidents? List them: warpwatch help'],
    [['help', 'confg'], 'unknown command confg. Did you mean config? List them: warpwatch help'],
    [['--simulat'], 'unknown flag --simulat; did you mean --simulate?'],
    [['config', '--chekc'], 'unknown flag --chekc; did you mean --check?'],
    [['config', '--frobnicate'], 'unknown flag --frobnicate. List them: --help'],
    [['config', '--check=yes'], '--check takes no value, leave out "yes"'],
    [['--listen'], '--listen: its value is missing: give ADDRESS:PORT'],
    [['--listen', '--simulate'], '--listen: its value is missing: give ADDRESS:PORT before the flag --simulate'],
    [['--simulate', 'oom-leak'], 'unexpected argument "oom-leak": this command takes flags only; a value for --simulate is written --simulate=oom-leak'],
    [['replay'], 'replay: needs FILE, not nothing'],
    [['replay', 'a', 'b'], 'unexpected argument "b": this command takes FILE'],
    [['replay', '/nowhere.jsonl'], "replay: the recording cannot be read: ENOENT: no such file or directory, access '/nowhere.jsonl'"],
    [['replay', '/'], 'replay: the recording cannot be read: / is a directory'],
    [['config', '--config', '/nowhere.yaml'], "the configuration file cannot be read: ENOENT: no such file or directory, open '/nowhere.yaml'"],
  ])('%j', async (args, message) => {
    expect(await runCli(args)).toEqual({ code: 2, signal: null, stdout: '', stderr: `warpwatch: ${message}\n` })
  })

  test('run with a wrong configuration tells all of it', async () => {
    const { code, stdout, stderr } = await runCli(['--simulate=nothing'], { env: { WARPWATCH_HTTP__LISEN: '1' } })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr.split('\n').map((line) => line.split(':')[0])).toEqual(['WARPWATCH_HTTP__LISEN', '--simulate', ''])
  })
})

describe('config', () => {
  const bad = (): string => {
    const cwd = folder()
    writeFileSync(join(cwd, 'warpwatch.yaml'), 'http:\n  lisen: 1\n  token: hunter2 x\n')
    return cwd
  }

  test('prints what is in effect, as YAML and as JSON, without secrets', async () => {
    const env = { WARPWATCH_HTTP__TOKEN: 'hunter2' }
    const yaml = await runCli(['config', '--listen', '127.0.0.1:7'], { env })
    expect([yaml.code, yaml.stderr]).toEqual([0, ''])
    expect(yaml.stdout).toContain('  listen: "127.0.0.1:7" # --listen\n')
    expect(yaml.stdout).not.toContain('hunter2')
    const json = await runCli(['config', '--json', '--simulate'], { env })
    expect(JSON.parse(json.stdout)).toMatchObject({ http: { token: '(hidden)' }, simulate: { scenario: 'healthy' } })
  })

  test('--check finds what is wrong: exit code 1, the findings on stdout', async () => {
    const { code, stdout, stderr } = await runCli(['config', '--check'], { cwd: bad() })
    expect([code, stderr]).toEqual([1, ''])
    expect(stdout).toMatch(/^warpwatch\.yaml:2: unknown key http\.lisen; .*\nwarpwatch\.yaml:3: http\.token: must be .*\n$/)
    expect(stdout).not.toContain('hunter2')
    const json = await runCli(['config', '--check', '--json'], { cwd: bad() })
    expect(json.code).toBe(1)
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, problems: [{ where: 'warpwatch.yaml:2' }, { where: 'warpwatch.yaml:3' }] })
  })

  test('--check of a good one: exit code 0', async () => {
    expect(await runCli(['config', '--check'])).toMatchObject({ code: 0, stderr: '' })
  })

  test('without --check a wrong one is unusable input: exit code 2, nothing on stdout', async () => {
    expect(await runCli(['config'], { cwd: bad() })).toMatchObject({ code: 2, stdout: '' })
  })

  test('a reader that stops reading is no error', async () => {
    const running = startCli(['config'])
    running.child.stdout.destroy()
    expect((await running.ended).code).toBe(0)
  })
})

describe('replay', () => {
  const lines = [
    { type: 'meta', format: 'warpwatch-recording', version: 1, host: 'gpu-01' },
    {
      type: 'scrape',
      t: 1_763_600_000_000,
      source: 'gpu',
      duration_ms: 3,
      readings: [['warpwatch_gpu_memory_used_bytes', { gpu: '0', uuid: 'GPU-1' }, 5]],
      gaps: [],
    },
    { type: 'log', t: 1_763_600_061_000, stream: 'kernel', text: 'x' },
    { type: 'novelty', t: 1_763_600_061_000 },
  ].map((line) => JSON.stringify(line))
  const recording = (text: string): string => {
    const file = join(folder(), 'r.jsonl')
    writeFileSync(file, text)
    return file
  }

  test('--json prints the lists of the contract', async () => {
    const { code, stdout } = await runCli(['replay', recording(`${lines.join('\n')}\n`), '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({ incidents: [], forecasts: [] })
  })

  test('tells span, host, GPUs and events; what was skipped goes to stderr', async () => {
    const { code, stdout, stderr } = await runCli(['replay', recording(`${lines.join('\n')}\n{"type":"scr`)])
    expect(code).toBe(0)
    expect(stdout).toContain('Host      gpu-01\n')
    expect(stdout).toContain('Span      1 min 1 s, from 2025-11-20T00:53:20.000Z')
    expect(stdout).toContain('Events    1 scrape, 1 log\n')
    expect(stdout).toContain('GPU-1')
    expect(stderr).toBe('warpwatch: replay: skipped of 5 lines: 1 malformed, 1 of unknown type "novelty"\n')
  })

  test('a file that is no recording is unreadable input', async () => {
    expect(await runCli(['replay', recording('hello\nworld\n'), '--json'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('this is no recording'),
    })
    expect(await runCli(['replay', recording(''), '--json'])).toMatchObject({ code: 2, stdout: '' })
  })

  test('a recording of a later format is refused', async () => {
    const later = JSON.stringify({ type: 'meta', format: 'warpwatch-recording', version: 2, host: 'x' })
    expect(await runCli(['replay', recording(later)])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the recording is of version 2, and this Warpwatch reads version 1'),
    })
  })
})
