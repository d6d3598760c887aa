// `warpwatch exec -- COMMAND…`: runs a command as a job. Everything about it is as without us, until it has ended: then one verdict, or a line of figures.
import { writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { commandName } from '../../attribution/command-name.ts'
import { flushed } from '../../exec/flushed.ts'
import { loadNative } from '../../exec/native.ts'
import { endAs, runCommand } from '../../exec/run.ts'
import type { Fault } from '../../model/fault.ts'
import { messageOf } from '../../text/error.ts'
import { UsageError, type Command } from '../command.ts'
import { plain } from '../plain.ts'
import { openAgentLine } from './agent.ts'

async function faultsIn(tail: Buffer): Promise<readonly Fault[]> {
  if (tail.length === 0) return []
  const [{ explainText }, { logScanner }, { redactDeep }] = await Promise.all([
    import('../../diagnosis/explain.ts'),
    import('../../diagnosis/log-scanner.ts'),
    import('../../lib/redact.ts'),
  ])
  return redactDeep(explainText(logScanner(), tail.toString('utf8')))
}

function userName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined // a uid without an entry in passwd
  }
}

/** As notifiers are called in the configuration. */
function notifierIn(given: string | true | undefined): string | undefined {
  if (typeof given !== 'string') return undefined
  if (!/^[A-Za-z0-9][\w.-]{0,62}$/.test(given))
    throw new UsageError(`exec: --notify: must be the name of a notifier, not ${JSON.stringify(given.slice(0, 80))}. List them: warpwatch alerts`)
  return given
}

/** Names the run to the agent, and is no secret: loading what makes secrets would take 10 ms. */
const newId = (): string =>
  [0, 0]
    .map(() =>
      Math.floor(Math.random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0'),
    )
    .join('')

/** A reader who is slow gets the verdict; one who reads no more must not keep us. */
const FLUSH_MS = 10_000

export const exec: Command = {
  name: 'exec',
  summary: 'runs a command as a job, unchanged, and says why when it fails',
  positionals: [],
  takesCommand: true,
  flags: {
    // Spelled out: what reads the configuration is loaded when the command runs already.
    config: { kind: 'value', value: 'FILE', help: 'configuration file (default: ./warpwatch.yaml, /etc/warpwatch/warpwatch.yaml)' },
    listen: { kind: 'value', value: 'ADDRESS:PORT', help: 'where the agent listens, if one runs (default: 127.0.0.1:9839)' },
    name: { kind: 'value', value: 'NAME', help: 'name of the job (default: the command)' },
    json: { kind: 'value', value: 'FILE', help: 'write a report of the run to FILE' },
    notify: { kind: 'value', value: 'NAME', help: 'send the outcome to the notifier NAME of the agent' },
    quiet: { kind: 'switch', help: 'print nothing when the command succeeds' },
  },
  async run(args, io) {
    const { command = [], flags } = args
    if (command.length === 0) throw new UsageError('exec: the command is missing: warpwatch exec [--name NAME] -- COMMAND [ARGUMENTS]')
    const [given, json] = [flags.get('name'), flags.get('json')]
    const called = commandName(command)
    const name = typeof given === 'string' ? given.slice(0, 120) : undefined
    const agent = openAgentLine(args, io, { id: newId(), name, command: called, user: userName() }, { notify: notifierIn(flags.get('notify')) })
    const native = await loadNative()
    const startedAt = Date.now()
    // What is said at the end is loaded while the command runs.
    const running = runCommand(command, native, agent.started)
    const saying = Promise.all([import('../../jobs/outcome.ts'), import('./verdict.ts')])
    const ended = await running
    const { exitCode, signal, tail, problem } = ended
    const endedAt = Date.now()
    const faults = exitCode === 0 ? [] : await faultsIn(tail)
    const [cause] = faults
    const [[{ outcomeOf }, { verdictText }], { run, notSent }] = await Promise.all([saying, agent.ended({ exitCode, signal, cause })])
    const { outcome, reason } = outcomeOf({ t: endedAt, exitCode, signal, kinds: faults.map(({ kind }) => kind), title: cause?.title })
    const why = problem === undefined ? reason : `${command[0] ?? ''}: ${problem}`
    if (outcome !== 'completed' || !flags.has('quiet'))
      io.err(verdictText({ name: name ?? called, outcome, reason: why, durationMs: endedAt - startedAt, fault: cause, run }))
    if (notSent !== undefined) io.err(`warpwatch: exec: --notify ${plain(String(flags.get('notify')))}: not sent: ${plain(notSent)}\n`)
    if (typeof json === 'string') {
      const report = {
        name: name ?? called,
        command: called,
        started_at: startedAt,
        ended_at: endedAt,
        exit_code: exitCode,
        signal,
        outcome,
        reason: why,
        faults,
        run,
      }
      try {
        writeFileSync(json, `${JSON.stringify(report)}\n`)
      } catch (error) {
        io.err(`warpwatch: exec: --json: the report cannot be written: ${messageOf(error)}\n`)
      }
    }
    await flushed(process.stderr, FLUSH_MS)
    // What the command left running may hold its output open, which would keep us waiting for it.
    const code = endAs(ended, native)
    native?.leave(code)
    return process.exit(code)
  },
}
