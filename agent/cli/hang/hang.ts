// `warpwatch hang DIR`, `hang FILE`, `hang PID` and `hang JOB`: which rank did not join which collective, where it is, since when, and what to change.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { Evidence } from '../../hang/model.ts'
import { messageOf } from '../../text/error.ts'
import { UsageError, type Arguments, type Command, type Io } from '../command.ts'
import { CONFIG_FLAG } from '../config/flags.ts'

const MOST_BYTES = 64 * 2 ** 20

async function addPath(path: string, cwd: string, evidence: Evidence): Promise<void> {
  const { readFolder, readFileInto } = await import('../../hang/evidence/folder.ts')
  const whole = resolve(cwd, path)
  try {
    const found = statSync(whole)
    if (found.isDirectory()) return readFolder(whole, evidence)
    if (found.isFile() && found.size <= MOST_BYTES) readFileInto({ path, name: basename(whole), bytes: readFileSync(whole) }, evidence)
    else evidence.problems.push(`${path}: neither a folder nor a file of at most 64 MiB`)
  } catch (error) {
    throw new UsageError(`hang: ${path} cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

async function ofFolders(paths: readonly string[], io: Io): Promise<Evidence> {
  const { createEvidence } = await import('../../hang/model.ts')
  const evidence = createEvidence()
  for (const path of paths) await addPath(path, io.cwd, evidence)
  if (evidence.ranks.size === 0)
    throw new UsageError(
      `hang: nothing of a job was found in ${paths.join(', ')}: expected Flight Recorder dumps (nccl_trace_rank_0), logs (rank_0.log), stacks (rank_0.txt), RAS answers of a communicator that spans the job, or files of hang --save${evidence.problems.length === 0 ? '' : `; ${evidence.problems[0] ?? ''}`}`,
    )
  return evidence
}

async function ofProcesses(pids: readonly number[], seconds: number): Promise<Evidence> {
  const [{ lookAtProcesses }, { LookError }] = await Promise.all([import('../../hang/live/look.ts'), import('../../hang/live/python/memory.ts')])
  try {
    return (await lookAtProcesses(pids, seconds)).evidence
  } catch (error) {
    if (error instanceof LookError) throw new UsageError(`hang: ${error.message}`, { cause: error })
    throw error
  }
}

const DEFAULT_SECONDS = 3
function secondsOf(text: string | true | undefined): number {
  if (typeof text !== 'string') return DEFAULT_SECONDS
  const seconds = /^\d{1,3}(?:\.\d{1,2})?$/.test(text) ? Number(text) : Number.NaN
  if (!(seconds >= 0.1 && seconds <= 600)) throw new UsageError(`hang: --seconds: must be from 0.1 to 600, not ${JSON.stringify(text)}`)
  return seconds
}

/** A job is called by one word that is neither a pid nor a file or folder here. */
const namesJob = ([first = '', ...others]: readonly string[], cwd: string): boolean =>
  others.length === 0 && !first.includes('/') && !existsSync(resolve(cwd, first))

async function evidenceFor(args: Arguments, io: Io): Promise<Evidence | undefined> {
  const { positionals, flags } = args
  const [first = ''] = positionals
  if (/^\d{1,10}$/.test(first) && positionals.length === 1) return ofProcesses([Number(first)], secondsOf(flags.get('seconds')))
  if (!namesJob(positionals, io.cwd)) return ofFolders(positionals, io)
  const seconds = secondsOf(flags.get('seconds'))
  const { isLoaded, problemLines, settingsFor } = await import('../config/settings.ts')
  const loaded = await settingsFor(args, io, { detectors: false })
  if (!isLoaded(loaded)) {
    io.err(problemLines(loaded))
    return undefined
  }
  const { addOtherHosts, processesOf } = await import('./job.ts')
  const pids = await processesOf(loaded.config, first)
  const evidence = await ofProcesses(pids, seconds)
  await addOtherHosts(loaded.config, pids, evidence)
  return evidence
}

/** Writes the evidence of this host, to be judged with that of others: `warpwatch hang node-a.json node-b.json`. */
async function save(path: string, evidence: Evidence, cwd: string): Promise<void> {
  const { saveEvidence } = await import('../../hang/evidence/saved.ts')
  try {
    writeFileSync(resolve(cwd, path), `${saveEvidence(evidence)}\n`, { mode: 0o600 })
  } catch (error) {
    throw new UsageError(`hang: --save: ${path} cannot be written: ${messageOf(error)}`, { cause: error })
  }
}

export const hang: Command = {
  name: 'hang',
  summary: 'finds the rank that a hung distributed job waits for: which collective, which line of code, since when',
  positionals: ['DIR|FILE|PID|JOB'],
  optionalPositionals: ['DIR|FILE…'],
  flags: {
    ...CONFIG_FLAG,
    listen: { kind: 'value', value: 'ADDRESS:PORT', help: 'where the agent listens that knows JOB (default: 127.0.0.1:9839)' },
    seconds: { kind: 'value', value: 'N', help: `time between the two looks at a running process (default: ${DEFAULT_SECONDS})` },
    save: { kind: 'value', value: 'FILE', help: 'write the evidence to FILE; hang FILE FILE… judges several hosts together' },
    json: { kind: 'switch', help: 'print JSON' },
  },
  async run(args, io) {
    const evidence = await evidenceFor(args, io)
    if (evidence === undefined) return 2
    const saved = args.flags.get('save')
    if (typeof saved === 'string') await save(saved, evidence, io.cwd)
    const [{ judge }, { answerText, answerJson }] = await Promise.all([import('../../hang/judge/judge.ts'), import('./answer.ts')])
    const answer = judge(evidence)
    if (args.flags.has('json')) io.out(`${JSON.stringify(answerJson(evidence, answer))}\n`)
    else io.out(answerText(evidence, answer, process.stdout.isTTY && (io.env['NO_COLOR'] ?? '') === ''))
    return answer.verdict === 'hang' ? 1 : 0
  },
}
