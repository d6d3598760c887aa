// What inference servers print when the engine behind their port ended or no longer answers.
// Messages: SGLang managers/tokenizer_manager.py and entrypoints/http_server.py; vLLM v1/executor/multiproc_executor.py; TGI launcher/src/main.rs.
// vLLM's "No available shared memory broadcast block" alone is no fault: it is in ordinary starts too, each minute that a worker compiles.
import type { Facts } from '../../model/facts.ts'
import { KERNEL_LOG } from './host-oom/remedies.ts'
import { ruleFamily, type Matched, type Seen } from './parts/rules.ts'
import { lookup } from '../../text/lookup.ts'
import { known, whole } from './parts/window.ts'
import { xidsBeside } from './remedies/debug.ts'
import { dockerRun } from './remedies/docker-run.ts'
import type { Piece } from './remedies/plan.ts'

const BLOCK = 'No available shared memory broadcast block'
/** How far above the message its sign stands: one line a minute, for the five minutes that a worker is waited for. */
const LINES_ABOVE = 200
const waited = ({ text, at }: Seen): number => text.slice(Math.max(0, at - LINES_ABOVE), at).filter((line) => line.includes(BLOCK)).length

/** A stuck process is looked at from outside before it is ended: afterwards nobody knows where it stood. */
const whereItStands = (titles: string): Piece => ({
  text: 'Before the restart, see where the engine is stuck: a collective that waits for another GPU, a kernel that never ends, or Python code.',
  command: `for pid in $(pgrep -f '${titles}'); do sudo py-spy dump --pid $pid; done`,
})
const restart: Piece = {
  text: 'Restart the server: it does not recover by itself.',
}

const SIGNALS: Readonly<Record<string, string>> = { '4': 'SIGILL', '6': 'SIGABRT', '7': 'SIGBUS', '9': 'SIGKILL', '11': 'SIGSEGV', '15': 'SIGTERM' }

/** The shard and the signal that ended it, out of this line or those above. */
function readShard({ match, text, at }: Seen): Facts {
  const above = text.slice(Math.max(0, at - 40), at + 1)
  const last = (pattern: RegExp): string | undefined => above.map((line) => pattern.exec(line)?.[1]).findLast((one) => one !== undefined)
  const signal = last(/signaled to shutdown with signal (\d{1,2})\b/)
  return known({
    rank: whole(match[1] ?? last(/\bShard (\d{1,4}) (?:failed to start|crashed)\b/)),
    signal: signal === undefined ? undefined : lookup(SIGNALS, signal),
  })
}
const shardOf = ({ rank }: Facts): string => (rank === undefined ? 'A shard of TGI' : `Shard ${String(rank)} of TGI`)

const shardRemedies = (matched: Matched): readonly Piece[] => (raisedAbove(matched) ? [AS_ABOVE] : shardSteps(matched))
const AS_ABOVE: Piece = { text: 'Fix the error that the shard printed above: that is what ended it.' }
/** The shard's own exception, as the launcher passes it on just before. */
const raisedAbove = ({ text, at, facts }: Matched): boolean =>
  facts['signal'] === undefined && text.slice(Math.max(0, at - 8), at).some((line) => RAISED.test(line.trim()))
const shardSteps = ({ facts, situation }: Matched): readonly Piece[] => [
  { text: 'Read the lines under "Shard complete standard error output": the shard prints its own error there.' },
  facts['signal'] === 'SIGILL' && {
    text: 'See what the CPU offers: in a virtual machine give it the CPU type of its host (Proxmox, QEMU: type "host").',
    command: 'lscpu | grep -o "avx[^ ]*" | sort -u',
  },
  facts['signal'] === 'SIGKILL' && KERNEL_LOG,
  facts['signal'] === 'SIGKILL' && { text: 'Give the container more host memory: the weights of a shard are read through it before they reach the GPU.' },
  situation().programs.has('docker') && {
    text: 'Give the container more shared memory: shards talk to each other through it, and 64 MiB are not enough.',
    command: dockerRun('--shm-size=1g', situation()),
  },
  situation().vendor !== 'amd' && facts['signal'] !== 'SIGILL' && xidsBeside,
]

/** The front end's own lines name async_llm.py and core_client.py. */
const OF_THE_ENGINE =
  /\bEngineCore\w{0,8}(?: pid=\d{1,8})?\)[^\n]*(?:ERROR|Traceback)|\[core\.py:\d|EngineCore (?:encountered a fatal error|failed to start|hit an exception)|proc EngineCore\w{0,8} died/

const RAISED = /^(?:[a-z_][\w.]{0,80}\.)?[A-Z]\w{2,60}(?:Error|Exception): \S/

export const servingEngine = ruleFamily({
  id: 'serving-engine',
  kind: 'worker_died',
  literals: [
    "Server couldn't get a response from detokenizer",
    'Received sigquit from a child proces',
    'SIGQUIT received.',
    'atchdog timeout (self.watchdog_timeout=',
    'RPC call to ',
    'died unexpectedly, shutting down ',
    'EngineDeadError: ',
    'text_generation_launcher: Shard ',
    'ShardCannotStart',
    'ShardFailed',
  ],
  rules: [
    {
      pattern: /Health check failed\. Server couldn't get a response from detokenizer for last (\d{1,6}) seconds/,
      severity: 'critical',
      title: "SGLang's engine does not answer its health check",
      verdict: ({ match }) =>
        `SGLang asked its own engine for one token and got none for ${match[1]} s. The port still answers, and /health says 503. The scheduler is stuck, has ended, or computes one very long batch.`,
      remedies: ({ situation }) => [whereItStands('sglang::'), situation().vendor !== 'amd' && xidsBeside, restart],
    },
    {
      pattern: /\b[Ww]atchdog timeout \(self\.watchdog_timeout=(\d{1,6})(?:\.\d)?(?:, self\.soft=(True|False))?/,
      severity: ({ match }) => (match[2] === 'True' ? 'warning' : 'critical'),
      title: ({ match }) => `SGLang's scheduler finished no batch for ${match[1]} s`,
      verdict: ({ match }) =>
        `One step of SGLang took longer than ${match[1]} s, ${match[2] === 'True' ? 'and its watchdog wrote down where it stood' : 'so its watchdog ended the server'}: a GPU waits for another one, a kernel hangs, or kernels are compiled for that long (first requests).`,
      remedies: ({ situation, match }) => [
        situation().text.includes('py-spy: command not found') && {
          text: 'Install py-spy where the server runs: the watchdog then writes down where every process was.',
          command: 'pip install py-spy',
        },
        { text: 'Read the stacks that the watchdog printed above ("Pyspy dump"): the rank whose stack differs is the one that the others wait for.' },
        situation().vendor !== 'amd' && xidsBeside,
        { text: 'If it compiled or loaded for that long: give it more time.', command: `--watchdog-timeout ${Number(match[1]) * 4}` },
        {
          text: 'If it hangs again: switch off one thing at a time (--disable-cuda-graph, --disable-custom-all-reduce, speculative decoding), and update SGLang.',
        },
      ],
    },
    {
      pattern: /\bRPC call to (\w{1,60}) timed out/,
      severity: 'critical',
      title: "vLLM's workers did not answer their engine",
      verdict: (seen) => {
        const count = waited(seen)
        const sign = count === 0 ? '' : ` "${BLOCK}" is ${count === 1 ? 'once' : `${count} times`} above it: a worker had stopped taking work before.`
        return `The engine of vLLM waited for "${seen.match[1]}" of its workers until its time ran out, and ended.${sign} A worker is stuck or has ended without a word.`
      },
      remedies: ({ situation }) => [
        { text: 'Look for the first error of a worker above this one: an illegal access, an Xid or a lost GPU stops all others.' },
        situation().vendor !== 'amd' && xidsBeside,
        whereItStands('VLLM::Worker'),
        {
          text: 'If a first request really compiles for longer: give it more time.',
          command: 'export VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS=1200',
        },
        restart,
      ],
    },
    {
      pattern: /(?:Engine core|Worker) proc ([\w-]{1,40}) died unexpectedly, shutting down (client|executor)/,
      severity: 'critical',
      title: ({ match }) => (match[2] === 'client' ? "vLLM's engine process ended without a word" : 'A worker process of vLLM ended without a word'),
      verdict: ({ match }) =>
        `${match[1]}, which holds ${match[2] === 'client' ? 'the' : 'a'} GPU, was ended from outside or crashed in native code, and the server ends with it. If it printed an error, that is above.`,
      remedies: ({ situation }) => [
        KERNEL_LOG,
        {
          text: 'Look there for a segfault too, and for a core dump: it names the library.',
          command: 'sudo dmesg -T | grep -iE "segfault|traps:" | tail; coredumpctl info | head -n 40',
        },
        situation().vendor !== 'amd' && xidsBeside,
        { text: 'Give host or container more memory: weights pass through it while they are loaded.' },
      ],
    },
    {
      pattern: /\bEngineDeadError: EngineCore encountered an issue\. See stack trace/,
      severity: 'critical',
      // Where the log holds what the engine printed, mostly above, that is the fault.
      unless: ({ text, at }) => text.slice(Math.max(0, at - 400), at + 60).some((line) => OF_THE_ENGINE.test(line)),
      title: "vLLM's engine failed",
      verdict: 'The server only tells that its engine (EngineCore) failed. The cause is in the lines of EngineCore itself, mostly further up in the log.',
      remedies: ({ situation }) => [
        {
          text: 'Read the first error of the engine.',
          command: `${situation().programs.has('kubernetes') ? `kubectl logs ${situation().subject.pod ?? '<POD>'} --previous` : 'docker logs <CONTAINER>'} 2>&1 | grep -m1 -A60 -E "EngineCore.*(ERROR|Traceback)"`,
        },
        situation().vendor !== 'amd' && xidsBeside,
        restart,
      ],
    },
    {
      pattern: /(?:Received sigquit from a child process?|SIGQUIT received)\.[^\n]{0,60} usually means (?:the|one) child failed/,
      severity: 'critical',
      // The process prints its traceback, before or after the server hears of it; a part of a log may begin within it.
      unless: ({ text, at }) =>
        text.slice(Math.max(0, at - 60), at + 40).some((line) => line.includes('Scheduler hit an exception: Traceback')) ||
        text.slice(Math.max(0, at - 12), at).some((line) => RAISED.test(line)),
      title: "A process of SGLang's engine ended",
      verdict:
        'A scheduler or the detokenizer of SGLang ended, and the server with it. Its own error is above, mostly under "Scheduler hit an exception" or "watchdog timeout".',
      remedies: ({ situation }) => [
        { text: 'Read the lines above: the process that failed prints its traceback before it tells the server.' },
        KERNEL_LOG,
        situation().vendor !== 'amd' && xidsBeside,
      ],
    },
    {
      pattern: /\bShard (\d{1,4}) failed to start\b|\bShardCannotStart\b/,
      severity: 'critical',
      title: ({ facts }) => `${shardOf(facts)} did not start`,
      verdict: ({ facts }) =>
        `${shardOf(facts)} ended before it was ready${facts['signal'] === undefined ? '' : `, by ${facts['signal']}`}, and the server with it.${facts['signal'] === 'SIGKILL' ? ' Nobody but the kernel or an operator sends SIGKILL: mostly host memory ran out.' : facts['signal'] === 'SIGILL' ? ' The CPU lacks an instruction that the image uses (AVX2).' : ''}`,
      remedies: shardRemedies,
      facts: readShard,
    },
    {
      pattern: /\bShard (\d{1,4}) crashed\b|\bShardFailed\b/,
      severity: 'critical',
      title: ({ facts }) => `${shardOf(facts)} crashed`,
      verdict: ({ facts }) => `${shardOf(facts)} ended while it served, and the server with it.`,
      remedies: shardRemedies,
      facts: readShard,
    },
  ],
})
