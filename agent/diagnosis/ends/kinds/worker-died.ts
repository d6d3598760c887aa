// A helper process died, and its own words are not in the text.
import { WEIGHT, anyOf, place, quote, raises, says, type EndKind, type EndContext } from '../end-kind.ts'
import { ollamaEstimate } from '../../faults/host-oom/estimates.ts'
import { KERNEL_LOG } from '../../faults/host-oom/remedies.ts'
import { INFERENCE } from '../../situation/programs.ts'
import { signalName, signalOfExit } from '../signals.ts'
import { serverSteps } from '../who-runs.ts'

/** vLLM's server or engine says that a process below it failed before it was ready: v1/engine/utils.py, v1/executor/multiproc_executor.py. */
const ENGINE_START = /^(?:Exception: )?(?:Engine (?:core|process) (?:initialization failed|failed to start)|WorkerProc initialization failed)/
/** TensorRT-LLM's, of its workers: executor/proxy.py. */
const TRTLLM = /^Executor worker (?:returned error|died)/
/** Of a notebook: the Python that runs its cells. */
const NOTEBOOK = /^(?:The )?[Kk]ernel (?:for \S{1,120} )?(?:(?:appears to have |has )?died|crashed while executing)|^(?:AsyncIOLoop)?KernelRestarter: /
/** Open MPI's, of another rank; the host is below. */
const MPI_PEER = /^An MPI communication peer process has unexpectedly disconnected/
/** Spark's driver, of an executor and of the task that ran there; what it ended itself is no loss. */
const SPARK = /^(?:Lost executor \S{1,40} on \S{1,120}: (?!.{0,120}(?:killed by driver|decommission|[Pp]reempt))|ExecutorLostFailure \(executor )/
/** uvicorn's, of one of several workers. */
const UVICORN = /^Child process \[(\d{1,10})\] died$/
const PEER_HOST = /^ {0,8}Peer host: {1,8}([\w.-]{1,80})/m
/** Ray's description of an actor. */
const OF_ACTOR = /(?:^|\s)pid: (\d{1,10})/
const peerHost = ({ situation }: Pick<EndContext, 'situation'>): string | undefined => PEER_HOST.exec(situation.text)?.[1]
/** Where Ray's worker ran: its log and its kernel's are there, not where the driver of the job runs. */
function rayNode(error: EndContext['error']): string {
  const address = /Worker IP address: ([\d.]{7,15}|[\da-f:]{6,39})(?=\s|$)/.exec(error === undefined ? '' : `${error.message}\n${error.tail}`)?.[1]
  return address === undefined ? '' : `, on the node of that worker (${address})`
}
/** Ollama pulled the model just before: `pulling 939fd971f038... 100% ▕███▏ 228 GB`. */
const pulledGb = (text: string): number => Number(/\bpulling [\da-f]{12}[^\n]{0,200}?([\d.]{1,6}) GB\b/.exec(text)?.[1] ?? 0)
/** A smaller one fits most hosts. */
const LARGE_MODEL = 20
/** Nobody's own end: whoever sends SIGTERM to a worker of PyTorch ends the job. */
const fromOutside = (signal: EndContext['facts']['signal'], error: EndContext['error']): boolean =>
  signal === 'SIGTERM' && error?.message.startsWith('DataLoader worker') === true
const engineStart = (error: EndContext['error']): boolean => error !== undefined && ENGINE_START.test(error.message)

export const workerDied: EndKind = {
  kind: 'worker_died',
  stage: 'consequence',
  severity: 'critical',
  claims: anyOf(
    says(/DataLoader worker \(pid(?:\(s\))? ?[\d, ]{1,200}\) (?:exited unexpectedly|is killed by signal)/, WEIGHT.message, (match) => {
      const pid = /pid(?:\(s\))? ?(\d{1,10})\)/.exec(match[0])?.[1]
      const signal = /killed by signal: (Killed|Terminated)/.exec(match.input)?.[1]
      const code = /exited unexpectedly with exit code (\d{1,3})\b/.exec(match.input)?.[1]
      return {
        ...(pid === undefined ? {} : { pid: Number(pid) }),
        ...(code === undefined ? {} : { exit_code: Number(code) }),
        ...(signal === undefined ? {} : { signal: signal === 'Killed' ? 'SIGKILL' : 'SIGTERM' }),
      }
    }),
    says(
      /(?:worker|actor|engine|process|child|subprocess|rank|replica)\b.{0,80}\b(?:died unexpectedly|has died|is dead|exited unexpectedly|terminated (?:unexpectedly|abruptly)|was unexpectedly terminated|crashed unexpectedly|unexpectedly exited)|\bsubprocess(?:es)? has abruptly died\b|terminated abruptly while the future/i,
      WEIGHT.message,
      (match) => {
        const signal = /\{?(SIG[A-Z]{2,6})\(-\d{1,2}\)/.exec(match.input)?.[1]
        return signal === undefined ? {} : { signal }
      },
    ),
    // Ollama's server speaks of its runner, with the runner's end behind it (llm/server.go, since 2026 llm/llama_server.go).
    says(/(?:runner|llama-server) process (?:has terminated|(?:is )?no longer running)\b|failed to start a llama runner/, WEIGHT.message, ({ input }) => {
      const [, code, signal] = /(?:terminated|running): (?:exit status (\d{1,3})|signal: (killed|terminated|segmentation fault|aborted))/.exec(input) ?? []
      const name = signal === undefined ? undefined : signalName(signal)
      return { ...(code === undefined ? {} : { exit_code: Number(code) }), ...(name === undefined ? {} : { signal: name }) }
    }),
    says(/Worker exit type: (?!INTENDED|NODE_OUT)|its worker process has died|died or was killed while executing/, WEIGHT.message + 0.1, ({ input }) => {
      const pid = /Worker PID: (\d{1,10})|^\s*pid: (\d{1,10})/m.exec(input)
      return pid === null ? {} : { pid: Number(pid[1] ?? pid[2]) }
    }),
    // vLLM's older executor, to the calls that waited for the worker
    says(/^worker died(?: \(-?\d{1,3}\))?$/, WEIGHT.message, ({ input }) => {
      const code = /\((-?\d{1,3})\)$/.exec(input)?.[1]
      const signal = code === undefined ? undefined : signalName(code)
      return signal === undefined ? {} : { signal }
    }),
    says(/^(?:One or more|Some) background workers are no longer alive/, WEIGHT.message),
    says(/^(?:Aborted: |Unknown: )?Horovod has been shut down\b/, WEIGHT.message),
    says(MPI_PEER, WEIGHT.message),
    says(SPARK, WEIGHT.message, ({ input }) => {
      const code = Number(/\b(?:[Ee]xit (?:status|code):?|exited with code) (\d{1,3})\b/.exec(input)?.[1] ?? 0)
      const signal = signalOfExit(code)
      return { ...(code === 0 ? {} : { exit_code: code }), ...(signal === undefined ? {} : { signal }) }
    }),
    says(UVICORN, WEIGHT.message, ([, pid]) => ({ pid: Number(pid) })),
    says(/terminated with signal (SIGKILL|SIGTERM)/, WEIGHT.message, (match) => {
      const rank = /process (\d{1,6}) terminated/.exec(match.input)?.[1]
      return { signal: match[1] ?? '', ...(rank === undefined ? {} : { rank: Number(rank) }) }
    }),
    says(
      /Engine (?:core|process|loop)\b.{0,40}(?:failed|is dead)|^Executor worker (?:returned error|died)|WorkerProc initialization failed|[Kk]ernel (?:for \S{1,120} )?(?:(?:appears to have |has )?died|crashed while executing)|KernelRestarter: restarting kernel|Background loop (?:has|is) (?:errored|stopped)|failed to get register_center_actor|Lost connection to (?:worker|process)|[Ww]orker .{0,40}(?:lost|is gone|not responding)|process \d{1,6} terminated with exit code/,
      WEIGHT.message,
    ),
    ({ name, frames }) =>
      name !== undefined &&
      /^(?:EOFError|ConnectionResetError|BrokenPipeError|ConnectionRefusedError)$/.test(name) &&
      /multiprocessing[\\/](?:connection|queues|managers|reduction|resource_sharer)/.test(frames.at(-1)?.file ?? '')
        ? { weight: WEIGHT.errno + 0.5 }
        : undefined,
    // What a child reads of its parent, which failed to send itself: no file of pickle.
    ({ name, frames }) =>
      name === 'EOFError' && /multiprocessing[\\/]spawn\.py$/.test(frames.at(-1)?.file ?? '') ? { weight: WEIGHT.message + 0.5 } : undefined,
    // TorchServe's thread that watched it
    ({ name, message, tail }) =>
      name === 'InterruptedException' && /\.wlm\.WorkerThread\b/.test(`${message}\n${tail}`) ? { weight: WEIGHT.errno + 0.5 } : undefined,
    // Tensors come as open files, which their worker hands out on a socket of its own: it is gone with the worker.
    ({ name, frames }) =>
      name === 'FileNotFoundError' && frames.some(({ file }) => /multiprocessing[\\/]resource_sharer\.py$/.test(file))
        ? { weight: WEIGHT.errno + 0.5 }
        : undefined,
    // vLLM's engine waits for its workers through shared memory; what it gave up comes below.
    ({ name, frames }) => (name === 'TimeoutError' && frames.at(-1)?.file.endsWith('shm_broadcast.py') === true ? { weight: WEIGHT.errno + 0.5 } : undefined),
    raises(
      /^(?:Ray)?Actor(?:Died|Unavailable)?Error$|^(?:Worker(?:Crashed|Lost)Error|(?:Node|LocalRaylet|Owner)DiedError|Broken(?:ProcessPool|Executor)|TerminatedWorkerError|ProcessExitedException|(?:Async)?EngineDeadError|EngineGenerateError|KilledWorker|NannyFailed)$/,
      WEIGHT.errno,
    ),
  ),
  title: ({ error, facts }) => {
    // The pid in front of such a line is the parent's.
    const pid = OF_ACTOR.exec(error?.tail ?? '')?.[1] ?? facts.pid
    if (NOTEBOOK.test(error?.message ?? '')) return "The notebook's kernel died"
    if (MPI_PEER.test(error?.message ?? '')) return 'A rank of the MPI job ended early'
    return error !== undefined && TRTLLM.test(error.message)
      ? "TensorRT-LLM's workers did not start"
      : engineStart(error)
        ? "vLLM's engine did not start"
        : `A worker process${pid === undefined ? '' : ` (pid ${pid})`} died`
  },
  verdict: (context) => {
    const words = quote(context)
    if (engineStart(context.error)) return `A process of vLLM's engine failed while it started${place(context)}: "${words}". Its own error is not in this text.`
    if (MPI_PEER.test(words)) {
      const host = peerHost(context)
      return `Another rank of the MPI job${host === undefined ? '' : `, on ${host},`} ended without MPI_Finalize, and Open MPI says so on a rank that still runs. Why it ended is not in this text.`
    }
    const { signal } = context.facts
    if (NOTEBOOK.test(words))
      return `The Python process that runs the cells ended: "${words}". Why is not in this text: mostly host memory ran out, or native code crashed.`
    if (UVICORN.test(words))
      return `A process of uvicorn that answers requests ended (pid ${context.facts.pid}); uvicorn starts another. Why it ended is not in this text.`
    return `A helper process ended${signal === undefined ? '' : ` by ${signal}`}, and the program with it${place(context)}${words === '' ? '' : `: "${words}"`}. ${signal === 'SIGKILL' ? `Mostly the kernel does that, when host memory runs out.${ollamaEstimate(context.situation.text)}` : 'Why it ended is not in this text.'}`
  },
  remedies: ({ situation, error, facts: { signal } }) => [
    MPI_PEER.test(error?.message ?? '') && {
      text: `Look for the first error of the ${peerHost({ situation }) === undefined ? 'rank that ended' : `ranks on ${peerHost({ situation })}`}: give each rank a file of its own, and start it again.`,
      command: 'mpirun --output-filename <FOLDER> <COMMAND>',
    },
    NOTEBOOK.test(error?.message ?? '') && {
      text: 'Run the cells as a script: the terminal then shows the last words and the signal.',
      command: 'jupyter nbconvert --to script <NOTEBOOK>.ipynb && python -X faulthandler <NOTEBOOK>.py',
    },
    error !== undefined &&
      TRTLLM.test(error.message) && {
        text: 'Read the log above for "Failed to initialize executor": that line of the worker names the cause (memory, an unsupported model or option, NCCL).',
      },
    pulledGb(situation.text) >= LARGE_MODEL && {
      text: `The model that was loaded has ${pulledGb(situation.text)} GB: it must fit the memory of GPUs and host together, with the KV cache beside it. See how much there is.`,
      command: 'free -g',
    },
    engineStart(error) && {
      text: 'Read the log from its start: the first ERROR line of (EngineCore …) or (Worker …) is the cause; what follows only passes it on.',
    },
    engineStart(error) || MPI_PEER.test(error?.message ?? '')
      ? undefined
      : NOTEBOOK.test(error?.message ?? '') || fromOutside(signal, error)
        ? undefined
        : signal === 'SIGKILL' && situation.programs.has('ollama')
          ? { text: 'Load a smaller model or quantization, or give the service or container more host memory: what does not fit the GPU is kept there.' }
          : (serverSteps(situation) ?? {
              text: "Read the last lines of the worker's own log, and the lines above: they usually name the cause, which the parent process does not know.",
            }),
    (signal === 'SIGKILL' || signal === undefined) && KERNEL_LOG,
    signal === 'SIGKILL' &&
      !situation.programs.has('ollama') &&
      INFERENCE.some((program) => situation.programs.has(program)) && {
        text: 'Give the host or the container more memory: the weights pass through it while they are loaded.',
      },
    situation.programs.has('ray') && { text: `Ray keeps each worker's own log${rayNode(error)}.`, command: 'ls -t /tmp/ray/session_latest/logs | head' },
    fromOutside(signal, error) && {
      text: 'Look for who ended it: a launcher such as torchrun ends all ranks when one fails (read the first error of the others), a scheduler at the end of the time, or a person.',
    },
    situation.programs.has('pytorch') &&
      !fromOutside(signal, error) &&
      !situation.programs.has('ray') &&
      !INFERENCE.some((program) => situation.programs.has(program)) && {
        text: `Run with ${situation.programs.has('ultralytics') ? '' : 'num_'}workers=0: the error then comes in the main process, with its traceback.`,
      },
    (situation.programs.has('docker') || situation.programs.has('kubernetes')) && {
      text: 'In a container also see whether shared memory is large enough.',
      command: 'df -h /dev/shm',
    },
  ],
}
