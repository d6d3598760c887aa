// The process of a sampler child: how it is forked, and the first one, which starts while the main process still loads its own program.
import { fork, type ChildProcess } from 'node:child_process'
import { openCallRecord } from './call-record.ts'

export type ChildProgram = { readonly entry: string | URL; readonly execArgv: readonly string[]; readonly env: NodeJS.ProcessEnv }

/**
 * The child holds a few hundred kB of live data; a small young generation keeps its memory small (nvml readings make little garbage), and V8's own threads would
 * only wake for it. None of these changes what V8 compiles: Node would refuse the compiled form of its own modules, and compile them again (see scripts/node-flags.mjs).
 */
export const CHILD_FLAGS: readonly string[] = [
  '--max-semi-space-size=1',
  '--max-old-space-size=64',
  '--v8-pool-size=1',
  '--no-concurrent-recompilation',
  '--no-concurrent-sparkplug',
  '--no-concurrent-marking',
  '--no-parallel-scavenge',
  '--no-concurrent-sweeping',
  '--no-concurrent-array-buffer-sweeping',
  '--no-warnings',
]

/** The descriptor of the child's record, in the child. */
export const CALL_FD = 4
const lastCalls = new WeakMap<ChildProcess, string>()
/** What a child that has ended called last; empty where it could not be kept. */
export const lastCallOf = (child: ChildProcess): string => lastCalls.get(child) ?? ''

function forkChild({ entry, execArgv, env }: ChildProgram): ChildProcess {
  const record = openCallRecord()
  const child = fork(entry, [], {
    execArgv: [...execArgv],
    // One heap instead of one for each of Node's threads: 1.2 MiB less, and nothing here allocates in parallel (glibc, mallopt(3)).
    env: { ...env, MALLOC_ARENA_MAX: '1' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', record?.fd ?? 'ignore'],
    serialization: 'json',
    // A session of its own: what a terminal sends to all of its programs (SIGHUP when it closes, SIGINT) is the parent's to answer.
    detached: true,
  })
  if (record === undefined) return child
  // Without a pid it could not be started, and no end comes.
  if (child.pid === undefined) record.close()
  else
    child.once('exit', () => {
      lastCalls.set(child, record.read())
      record.close()
    })
  return child
}

type Prepared = { readonly program: ChildProgram; readonly child: ChildProcess }
let prepared: Prepared | undefined

/** Forks a child that loads its program and then waits to be told what to read. It touches no GPU before. */
export function prepareChild(program: ChildProgram): ChildProcess {
  dropPrepared()
  const child = forkChild(program)
  const own = { program, child }
  prepared = own
  // It could not be started: the next try says why.
  child.on('error', () => {
    if (prepared === own) prepared = undefined
  })
  return child
}

/** Ends one that nobody took: it goes when its channel closes. */
export function dropPrepared(): void {
  const child = prepared?.child
  prepared = undefined
  if (child?.connected === true) child.disconnect()
}

const isSame = (a: ChildProgram, b: ChildProgram): boolean => a.entry === b.entry && a.env === b.env && String(a.execArgv) === String(b.execArgv)

/** The prepared child where there is one of this program that lives, else a new one. */
export function takeChild(program: ChildProgram): ChildProcess {
  if (prepared === undefined || !isSame(prepared.program, program)) return forkChild(program)
  const { child } = prepared
  prepared = undefined
  return child.connected && child.exitCode === null && child.signalCode === null ? child : forkChild(program)
}
