// Lines that say that a process ended by a signal: of shells, launchers, supervisors, the kernel and runtimes.
import { known, whole } from '../../faults/parts/window.ts'
import type { ReadLine } from '../../traceback/line.ts'
import type { Found, SignalSign } from '../evidence.ts'
import { signalName, signalOfExit } from '../signals.ts'
import { lookup } from '../../../text/lookup.ts'

const NAME =
  'Killed|Terminated|[Ss]egmentation fault|Bus error|Aborted|[Ii]llegal (?:hardware )?instruction|Floating point exception|Hangup|Trace/breakpoint trap|User defined signal [12]|Alarm clock|File size limit exceeded'

/** Go writes them small. */
const GO_NAME = 'killed|terminated|hangup|aborted|segmentation fault|bus error|floating point exception|trace/breakpoint trap'

/** Each has the groups `signal`, and where the form names them `pid`, `rank`, `code`. */
const FORMS: readonly (readonly [by: SignalSign['by'], patterns: readonly RegExp[]])[] = [
  [
    'shell',
    [
      // bash: line 1: 2746 Killed   python train.py, also behind a bar without a line break
      new RegExp(`: line \\d{1,6}: {1,8}(?<pid>\\d{1,10}) (?:Done\\b.{0,80}\\| )?(?<signal>${NAME}|Quit(?= ))`),
      // [1]+  Killed, [1]    18472 segmentation fault (core dumped), zsh: killed
      new RegExp(`^\\[\\d{1,4}\\][+-]? {1,8}(?:(?<pid>\\d{1,10}) )? {0,4}(?<signal>${NAME}|killed|bus error|abort)\\b`),
      /^(?:zsh|fish|sh|bash|dash|ksh|-bash): (?<signal>killed|segmentation fault|bus error|abort|IOT instruction|illegal hardware instruction|terminated)\b/i,
      new RegExp(`^(?<signal>${NAME})(?:: \\d{1,2})?(?: ?\\(core dumped\\))?\\.?$`),
      // Behind the blanks of a bar, or in a quoted text
      new RegExp(`^\\s{1,400}(?<signal>${NAME}) ?\\(core dumped\\)\\.?$`),
      new RegExp(
        `[\\d%\\]|.)\\\\/-](?<signal>Killed|Terminated|(?:Segmentation fault|Bus error|Aborted|Illegal instruction|Floating point exception) ?\\(core dumped\\))$`,
      ),
      /(?:^|\s)(?:Job \d{1,4}, '[^'\n]{1,200}' )?[Tt]erminated by signal (?<signal>SIG[A-Z]{2,6}|\d{1,2})\b/,
      /Command terminated by signal (?<signal>\d{1,2})/,
      // Go's, of a program that it started
      new RegExp(`(?:^|[:="]\\s?|\\s)(?<!terminated: )signal: (?<signal>${GO_NAME})(?: \\(core dumped\\))?["']?\\.?$`),
    ],
  ],
  [
    'launcher',
    [
      // Cargo on Windows
      /^error: process didn't exit successfully: [^\n]{1,400} \(exit code: (?<status>0xc0[0-9a-f]{6})\b/,
      // Cray's compilers
      /\bterminated due to receipt of signal \d{1,2}: {1,4}(?<signal>[A-Z][a-z ]{3,40}?)(?: \(core dumped\))?\.$/,
      // make, of the program of a rule
      new RegExp(`^g?make(?:\\[\\d{1,3}\\])?: \\*{3} \\[[^\\n]{1,160}\\] (?<signal>${NAME})\\b`),
      // HTCondor
      /^\s{0,8}\(0\) Abnormal termination \(signal (?<signal>\d{1,2})\)/,
      /\(interrupted by signal \d{1,2}: ?(?<signal>SIG[A-Z]{2,6})\)/,
      new RegExp(`^srun: error: \\S{1,80}: tasks? (?<rank>\\d{1,6})[\\d,-]{0,40}: (?<signal>${NAME})\\b`),
      /^YOUR APPLICATION TERMINATED WITH THE EXIT STRING: (?<signal>[A-Z][\w ]{2,40}?) \(signal \d{1,2}\)/,
      /(?:[Mm]pi(?:run|exec)|[op]rterun) noticed that process rank (?<rank>\d{1,6}) with PID (?<pid>\d{1,10}) on node \S{1,80} exited on signal (?<signal>\d{1,2})/,
      /[Ss]ignal \d{1,2} \((?<signal>SIG[A-Z]{2,6})\) received by PID (?<pid>\d{1,10})/,
      /\bexitcode ?: ?(?<code>-\d{1,2})\b.{0,12}(?:local_rank: (?<rank>\d{1,6}) )?.{0,4}\(pid: (?<pid>\d{1,10})\)/,
      /exits? with return code = (?<code>-\d{1,2})\b/,
      // Airflow
      /\breturn code Negsignal\.(?<signal>SIG[A-Z]{2,6})\b/,
      /died with <Signals\.(?<signal>SIG[A-Z]{2,6}): \d{1,2}>/,
      // text-generation-inference, of what is no shard: those have a family of their own
      /(?<!\bShard )\bprocess was signaled to shutdown with signal (?<signal>\d{1,2})\b/,
      /\bexited: \S{1,80} \(terminated by (?<signal>SIG[A-Z]{2,6}); not expected\)/,
      /process (?<rank>\d{1,6}) terminated with signal (?<signal>SIG[A-Z]{2,6})/,
      /code=(?:killed|dumped), status=(?<signal>\d{1,2})\//,
      /(?:Process|Worker|Child|Task|Container|Command)\b.{0,60}\b(?:was |been )?(?:killed|terminated|died|exited|crashed) (?:by|with|due to|on) ['"]?signal:? ?(?<signal>SIG[A-Z]{2,6}|\d{1,2})\b/i,
    ],
  ],
  [
    'kernel',
    [
      /(?:^|\s)[\w.:/-]{1,40}\[(?<pid>\d{1,10})\]: (?<signal>segfault) at [0-9a-f]{1,16} ip /,
      /traps: \S{1,40}\[(?<pid>\d{1,10})\] (?:trap )?(?<signal>general protection|invalid opcode)/,
    ],
  ],
  [
    'itself',
    [
      // UCX and Open MPI: [host:pid:communicator:thread]; the older MXM without the last
      /^\[[\w.-]{1,80}:(?<pid>\d{1,10}) ?:\d{1,6}(?::\d{1,10})?\] Caught signal \d{1,2} \((?<signal>Segmentation fault|Bus error|Aborted|Illegal instruction|Floating point exception)/,
      // PyTorch's handlers in DataLoader workers
      /^(?:ERROR: )?Unexpected (?<signal>segmentation fault|bus error|floating-point exception) encountered in worker\b/,
      // Also Abseil's handler, as in Ray
      /\*{3} (?<signal>SIG[A-Z]{2,6}) (?:\((?:TID|@)[^)\n]{0,40}\)? ?(?:received by PID (?<pid>\d{1,10}))?|received at time=\d)/,
      /^(?:\[[\w.-]{1,60}:(?<pid>\d{1,10})\] )?Signal: (?<signal>[A-Z][\w ]{2,30}?) \(\d{1,2}\)$/,
      /^(?:\[signal )?(?<signal>SIGSEGV|SIGBUS|SIGILL|SIGABRT|SIGFPE): [a-z]/,
      /^(?:\[(?<pid>\d{1,10})\] )?signal \(?\d{1,2}(?:\.\d{1,2})?\)?(?: \(\d{1,3}\))?: (?<signal>Segmentation fault|Bus error|Abort(?:ed)?|Illegal instruction|Floating[- ]point exception|Killed|Terminated)/,
      /^#\s{1,4}(?:(?<signal>SIG[A-Z]{2,6}) \(0x[0-9a-f]{1,4}\)|EXCEPTION_[A-Z_]{4,40} \((?<status>0xc0[0-9a-f]{6})\)) at pc=(?:0x[0-9a-f]{1,16}, pid=(?<pid>\d{1,10}))?/,
      /^ ?\*{3} caught (?<signal>segfault|bus error|illegal operation) \*{3}/,
      /^(?:Caught|Received|Got|Process received|Uncaught) signal:? (?:\d{1,2} )?\(?(?<signal>SIGSEGV|SIGBUS|SIGABRT|SIGFPE|SIGILL|Segmentation fault|Bus error|Aborted|Floating point exception)/,
      /\bPETSC ERROR: Caught signal number (?<signal>\d{1,2}) /,
      // Visual C++ and the event log of Windows
      /^(?:Unhandled exception|Exception)[^\n]{0,30}: (?:(?<status>0xC0[0-9A-F]{6})\b|(?:EXCEPTION_)?(?<signal>access[ _]violation))/i,
      /<Data Name="ExceptionCode">(?:0x)?(?<status>c0[0-9a-f]{6})</i,
      // Triton's server; 15 is how it is asked to stop
      /^Signal \((?<signal>4|6|7|8|11)\) received\.$/,
      // gfortran and gdb
      /^(?:Program|Thread \d{1,5} "[^"\n]{1,40}") (?:received|terminated with) signal (?<signal>SIG[A-Z]{2,6}|\d{1,2}(?=, [A-Z]))\b/,
      // Intel's Fortran
      /^forrtl: (?:severe|error) \(\d{1,3}\): (?:process killed \()?(?<signal>SIG[A-Z]{2,6})\b/,
      /AddressSanitizer:(?:DEADLYSIGNAL)? ?(?<signal>SEGV)\b/,
    ],
  ],
]
const MAY =
  /Quit|IOT |Signal \(|ill|larm|size limit|erminat|ault|rror|bort|llegal|xception|angup|trap|SIG|signal|exitcode|status=|return code|opcode|SEGV|protection|EXCEPTION_/
/** Quotes and help texts. */
const NOT = /^\s*(?:#(?!#\[)|\/\/|\*|"|')|kill -|trap '|if .*then/

const WORD: Readonly<Record<string, string>> = {
  segfault: 'SIGSEGV',
  SEGV: 'SIGSEGV',
  'general protection': 'SIGSEGV',
  'invalid opcode': 'SIGILL',
  'illegal operation': 'SIGILL',
}

/** In a sentence of a post, by who says it: `I get "Segmentation fault (core dumped)" as soon as …`; a page about crashes, a test's name and a prompt say it too. */
const SAID = new RegExp(
  `^(?![^\\n]*(?:\\?\\s*$|\\b(?:[Ff]ix\\w*|[Ii]f|[Nn]ot?|[Nn]ever)\\b))(?:(?:["“\`]|\\*\\*)(?=[^"”\`*\\n]{1,60}["”\`*]{1,2}(?:$| (?:when|upon|on|after|while|at|as|during)\\b))|(?:[^\\n{}|=]{0,120}?\\b)?(?:(?:I|[Ww]e)(?: [a-z]{1,10}){0,2} (?:get|got|getting|see|saw|receive)\\b[^\\n{}|=?]{0,60}?|gives (?:me )?|terminate called after [^\\n{}|]{0,300}? )["“\`]?)(?<signal>${NAME}) ?\\(core dumped\\)`,
)
export function readSignal(line: ReadLine, found: Found): void {
  const text = line.text.length > 2_000 ? line.text.slice(-2_000) : line.text
  if (!MAY.test(text)) return
  const trimmed = text.trimEnd()
  for (const [by, patterns] of FORMS)
    for (const pattern of patterns) {
      const groups = pattern.exec(trimmed)?.groups
      if (groups === undefined) continue
      if (by === 'shell' && NOT.test(text)) return
      const { signal: word, code, status, pid, rank } = groups
      const signal = word === undefined ? signalOfExit(Number(code ?? status?.replace(/^(?!0x)/i, '0x'))) : (lookup(WORD, word) ?? signalName(word))
      if (signal === undefined) continue
      const facts = known({
        signal,
        exit_code: code === undefined ? undefined : Number(code),
        // Open MPI counts from 0 where it does not know it.
        pid: pid === '0' ? line.pid : (whole(pid) ?? line.pid),
        rank: whole(rank) ?? line.rank,
      })
      found({ type: 'signal', at: line.number, text: line.raw, signal, by, facts })
      return
    }
  const said = !line.record && !NOT.test(text) && text.includes('(core dumped)') ? signalName(SAID.exec(trimmed)?.groups?.['signal']) : undefined
  if (said !== undefined) found({ type: 'signal', at: line.number, text: line.raw, signal: said, by: 'shell', facts: known({ signal: said, rank: line.rank }) })
}
