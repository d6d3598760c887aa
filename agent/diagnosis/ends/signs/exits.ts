// Exit codes and reasons, as launchers, schedulers, engines and IDEs report them. A code that means a signal is a signal.
import type { Facts } from '../../../model/facts.ts'
import { known, whole } from '../../faults/parts/window.ts'
import type { ReadLine } from '../../traceback/line.ts'
import type { Found } from '../evidence.ts'
import { signalName, signalOfExit } from '../signals.ts'
import { SUPPOSED } from './prose.ts'

/** Of coreutils' `timeout`, which launchers and CI systems took over. */
export const TIMED_OUT = 124
/** Groups: `code`, and where the form names them `rank`, `pid`. */
const EXACT: readonly RegExp[] = [
  /\bfailed \(exitcode: (?<code>-?\d{1,5})\) local_rank: (?<rank>\d{1,6}) \(pid: (?<pid>\d{1,10})\)/,
  /^srun: error: \S{1,80}: tasks? (?<rank>\d{1,6})[\d,-]{0,60}: Exited with exit code (?<code>\d{1,3})/,
  /exits? with return code = (?<code>-?\d{1,5})/,
  /\[(?<code>\d{1,3})\]: ?Process exited/,
  /MPI_ABORT was invoked .{0,80}errorcode (?<code>\d{1,5})/,
  // MPICH, Intel and Cray MPI: the error of MPI itself is a number beyond all exit codes
  /(?:^|- )Abort\((?<code>\d{1,10})\) (?:on node \d{1,6} )?\(rank (?<rank>\d{1,6}) in comm \d{1,6}\)/,
  // docker ps, of what a signal ended today, or failed just now; 137 has a rule of its own, 255 is what a reboot leaves
  /\bExited \((?<code>13[24569])\) (?:\d{1,2} (?:second|minute|hour)s?|About an? (?:minute|hour)|Less than a second) ago\b/,
  /\bExited \((?<code>[1-9]\d?|1[01]\d|12[0-7])\) (?:\d{1,2} (?:second|minute)s?|About a minute|Less than a second) ago\b/,
  // ble.sh
  /^\[ble: exit (?<code>\d{1,3})\]$/,
  // a wrapper in the shell
  /^Exit: (?<code>\d{1,3})$/,
  // tox
  /: (?:exit|FAIL code) (?<code>-?\d{1,3}) \(\d[\d.]{0,8}(?: seconds\)|=setup\[)/,
  // docker compose up
  /^[\w.-]{1,80} exited with code (?<code>\d{1,3})$/,
  /code=exited, status=(?<code>\d{1,3})\//,
  // supervisord
  /\bexited: \S{1,80} \(exit status (?<code>\d{1,3}); not expected\)/,
  /^make(?:\[\d{1,2}\])?: \*\*\* .{0,120}Error (?<code>\d{1,3})$/,
  /returned non-zero exit status (?<code>-?\d{1,10})\./,
  // pm2
  /\bApp \[[^\]\n]{1,80}\] exited with code \[(?<code>\d{1,3})\]/,
  // Vertex AI
  /\bexited with a non-zero status of (?<code>\d{1,3})\b/,
  // SkyPilot
  /\bfailed with return code list: \[(?<code>\d{1,3})/,
  // HTCondor
  /^\s{0,8}\(1\) Normal termination \(return value (?<code>\d{1,3})\)/,
  // Grid Engine's qacct
  /^exit_status {1,12}(?<code>\d{1,3})\s{0,40}$/,
  // Taskcluster
  /\bUnsuccessful task run with exit code: (?<code>\d{1,3}) completed in\b/,
  // wandb; 255 is a Ctrl-C, of which Python says more
  /\b(?:Program failed with code |Waiting for W&B process to finish[^(\n]{0,40}\(failed )(?<code>(?!255\b)\d{1,3})\b/,
  // DVC, of the command of a stage
  /\bfailed to run: [^\n]{1,600}, exited with (?<code>-?\d{1,3})$/,
  // Docker's older builder
  /\breturned a non-zero code: (?<code>\d{1,3})$/,
  // Kubeflow
  /\bPod: \S{1,200} exited with code (?<code>\d{1,3})\b/,
]
/** In a sentence, which may only speak about an end. */
const WORDED: readonly RegExp[] = [
  /(?:[Pp]rocess|[Cc]ommand|[Pp]rogram|[Ss]cript|[Jj]ob|[Cc]ontainer|[Tt]ask|[Ww]orker|[Ss]ubprocess|[Tt]rain(?:ing|er)|[Mm]ain process)\b[^\n]{0,120}?\b(?:finished|terminated|exited|failed|ended|completed|stopped|returned)(?:,)? (?:with )?(?:an? )?(?:non-zero )?(?:exit |error |return |status )?(?:code|status)?[ :=[]{0,3}(?<code>-?\d{1,10})\b/,
  /\b(?:[Ee]xit(?:ed)?(?: with)?(?:[ _-]?(?:[Cc]ode|[Ss]tatus)){1,2}|EXIT CODE|exitCode|ExitCode|exit status|rc|returncode)["']? {0,12}[:=(]? {0,12}(?<code>-?\d{1,10})\b/,
]
const FORMS: readonly RegExp[] = [...EXACT, ...WORDED]
/** What follows the code of a report: nothing, a bracket, a mark. Prose goes on. */
const REPORTED =
  /^[^\S\n]{0,3}(?:$|[).;,:\]}"'`|<>*]+(?:\s{0,3}$|\s{0,3}[({["'A-Z0-9]|[,:;]?\s)|[([{]|[—–-]\s|"|(?:from|after|at|in|on|by|and|while|caused|host|pid|rank|local_rank|time|elapsed|terminated)\b|#)/
/** A line of a data set, or of a help text. */
const QUESTION = /^\s{0,8}--\w|\b(?:Q|A|Question|Answer|Prompt): /
const MAY = /exit|Exit|EXIT CODE|return value|code|rc=|status|Error \d|Abort\(|\(failed \d/
/** Elastic's table, a line for each field; only what is under its root cause counts. */
const ROOT_CAUSE = /^Root Cause \(first observed failure\):/
const FIELD = /^ {1,4}(rank|exitcode) {1,8}: (-?\d{1,6})(?: \((local_rank|pid): (\d{1,10})\))?/
const TABLE_LINES = 12
const COMPLETED = /^\s{1,20}Reason: {1,20}Completed$/
const LAST_STATE = /^\s{0,20}Last State:/
const STATE_LINES = 6
/** Why a runtime could not start or had to end it. */
const REASON =
  /^\s*(?:-\s*)?"?[Rr]eason"?: {1,20}"?(Error|ContainerCannotRun|StartError|RunContainerError|CreateContainerError|CreateContainerConfigError|BackoffLimitExceeded|CrashLoopBackOff|UnexpectedAdmissionError|ErrImagePull|ImagePullBackOff|InvalidImageName|OutOf\w{2,20}|NodeAffinity)"?,?\s*$/
/** The same in the table of a job's events. */
const EVENT = /^\s*Warning {2,20}(BackoffLimitExceeded) {2}/
const RUNTIME = /OCI runtime (?:create|exec) failed|Error response from daemon: failed to create (?:shim|task)/
const SLURM_FAILED = /\*{3} (?:JOB|STEP) (\d{1,12})[^\n]{0,80} FAILED \(non-zero exit code/

/** Services of the driver are no jobs. */
const HOST_SERVICE = /\bnvidia-[\w-]{3,40}\.service: |\/nv-fabricmanager\b/

/** Open MPI wraps it there. */
const MPI_NOTICED = /^(?:mpi(?:run|exec)|[op]rterun) noticed that process rank (\d{1,6}) with PID (\d{1,10}) on node \S{1,80} exited on$/
const MPI_SIGNAL = /^signal (\d{1,2})\b/
/** Open MPI says it on two lines, from its version 5 on three. */
const MPI_ABORT = /MPI_ABORT was invoked on rank (\d{1,6})\b/
const MPI_CODE = /^\s*(?:[Ww]ith errorcode|Errorcode:) (-?\d{1,10})\b/
/** MPICH's older line, of each process that ends all others; Open MPI's handler of errors; Fujitsu's launcher, which also knows the signal. */
const ABORTS_ALL =
  /^application called MPI_Abort\(\S{1,60}, (?<code>-?\d{1,10})\) - process (?<rank>\d{1,6})\b|(?:\bPLE \d{4} plexec [^\n(]{1,120}\(rank=|\*{3} reported by process \[\d{1,12},)(?<of>\d{1,6})[)\]](?:.{0,80}\(sig=(?<signal>\d{1,2})\))?/

/** Nextflow of a task that left no code, events of torchelastic, Jenkins, SkyPilot, Ray Tune where none of its trials is well, Snakemake, supervisord, SageMaker, torchrun where it ends the others, RELION, and Kaldi's scripts say no code. */
const WITHOUT_CODE =
  /^\s{0,4}Process `[^`\n]{1,120}` terminated for an unknown reason -- Likely it has been terminated by the external system$|^\{"name": "torchelastic\.worker\.status\.FAILED", |^Finished: FAILURE$|^ERROR conda\.cli\.main_run:execute\(\d{1,4}\): `conda run [^\n]|^(?:wandb: ERROR )?Detected \d{1,3} failed runs in the first \d{1,4} seconds, killing sweep|^parallel: This job failed:$|^Trial status: \d{1,5} ERROR$|^Number of trials: (\d{1,5})\/\1 \(\1 ERROR\)|^Primary job {1,3}terminated normally, but \d{1,5} process(?:es)? returned$|^Build step '[^'\n]{1,80}' marked build as failure$|\bJob finished \(status: FAILED\)|^Exiting because a job execution failed\b|\bgave up: \S{1,80} entered FATAL state\b|^\s{2,16}\((?:one of the commands|command) exited with non-zero exit code\b|\bFailed - Training job failed\b|\bSending process \d{1,10} closing signal SIGTERM$|^\s{0,12}Message: {1,20}(?:[A-Z]\w{1,20})?Job \S{1,120} (?:has|is) failed because \d{1,5} \w{1,20} replica\(s\) failed\.|\bABORT!!! Out of all \d{1,6} trainers?, the trainer process with rank=\[|^ {0,2}exiting with an error \.\.\.$|^(?:run|queue|slurm)\.pl: (?:job|\d{1,5} \/ \d{1,5}) failed, log is in\b/
/** MPICH's and Intel's box: who, then how. */
const BAD_PROCESS = /^= {1,6}(?:RANK (\d{1,6}) )?PID (\d{1,10}) RUNNING AT /
const BAD_END = /^= {1,6}(?:EXIT CODE: (\d{1,5})|KILLED BY SIGNAL: (\d{1,2})\b)/

export type ExitReader = (line: ReadLine, found: Found) => void

/** Upstart's word of a service of the host, in the kernel's log. */
const OF_INIT = /^init: \S{1,80} (?:main|(?:pre|post)-st(?:art|op)) process \(\d/

export function createExitReader(): ExitReader {
  let table = 0
  let facts: Facts = {}
  let aborted: number | undefined
  let bad: Facts = {}
  let noticed: Facts | undefined
  let [completed, skip] = [false, 0]
  return (line, found) => {
    const { text, number: at, raw } = line
    if (OF_INIT.test(text)) return
    // A pod's last state is not how it ended, where it completed since.
    completed ||= COMPLETED.test(text)
    if (completed && LAST_STATE.test(text)) skip = STATE_LINES
    if (skip > 0) {
      skip -= 1
      return
    }
    const by = noticed === undefined ? undefined : signalName(MPI_SIGNAL.exec(text)?.[1])
    if (noticed !== undefined && by !== undefined) found({ type: 'signal', at, text: raw, signal: by, by: 'launcher', facts: { ...noticed, signal: by } })
    const [, of, process] = text.includes(' noticed that ') ? (MPI_NOTICED.exec(text.trimEnd()) ?? []) : []
    noticed = of === undefined ? undefined : known({ rank: whole(of), pid: process === '0' ? undefined : whole(process) })
    const code = aborted === undefined ? undefined : MPI_CODE.exec(text)?.[1]
    if (aborted !== undefined && code !== undefined) found({ type: 'exit', at, text: raw, facts: { rank: aborted, exit_code: Number(code) } })
    const rank = MPI_ABORT.exec(text)?.[1]
    if (code !== undefined || rank !== undefined) aborted = rank === undefined ? undefined : Number(rank)
    if (ROOT_CAUSE.test(text)) {
      table = TABLE_LINES
      facts = {}
      return
    }
    if (table > 0) {
      table -= 1
      const field = FIELD.exec(text)
      if (field !== null) {
        const [, name, value, extra, number] = field
        if (name === 'rank') facts = { ...facts, rank: Number(value) }
        else {
          facts = { ...facts, exit_code: Number(value), ...(extra === 'pid' ? { pid: Number(number) } : {}) }
          const signal = signalOfExit(Number(value))
          if (signal === undefined) found({ type: 'exit', at, text: raw, facts, first: true })
          else found({ type: 'signal', at, text: raw, signal, by: 'launcher', facts: { ...facts, signal } })
          table = 0
        }
      }
      return
    }
    if (text.startsWith('= ')) {
      const [, ofRank, pid] = BAD_PROCESS.exec(text) ?? []
      if (pid !== undefined) bad = known({ rank: whole(ofRank), pid: Number(pid) })
      const [, exitCode, number] = BAD_END.exec(text) ?? []
      const signal = number === undefined ? signalOfExit(Number(exitCode)) : signalName(number)
      const said = exitCode === undefined ? bad : { ...bad, exit_code: Number(exitCode) }
      if (signal !== undefined) found({ type: 'signal', at, text: raw, signal, by: 'launcher', facts: { ...said, signal } })
      else if (exitCode !== undefined && exitCode !== '0') found({ type: 'exit', at, text: raw, facts: said })
      return
    }
    const all = text.includes('MPI_Abort(') || text.includes(' plexec ') || text.includes('*** reported by ') ? ABORTS_ALL.exec(text)?.groups : undefined
    if (all !== undefined) {
      const signal = signalName(all['signal'])
      const said = known({
        rank: whole(all['rank'] ?? all['of']),
        exit_code: all['code'] === undefined || all['code'] === '0' ? undefined : Number(all['code']),
      })
      if (signal === undefined) found({ type: 'exit', at, text: raw, facts: said })
      else found({ type: 'signal', at, text: raw, signal, by: 'launcher', facts: { ...said, signal } })
      return
    }
    if (WITHOUT_CODE.test(text)) found({ type: 'exit', at, text: raw, facts: {} })
    const reason = REASON.exec(text)?.[1] ?? EVENT.exec(text)?.[1] ?? (RUNTIME.test(text) ? 'OCI runtime create failed' : undefined)
    if (reason !== undefined) found({ type: 'exit', at, text: raw, facts: { reason } })
    const failed = SLURM_FAILED.exec(text)
    if (failed !== null) found({ type: 'exit', at, text: raw, facts: { job_id: Number(failed[1]) } })
    if (!MAY.test(text) || HOST_SERVICE.test(text)) return
    for (const form of FORMS) {
      const match = form.exec(text)
      if (match?.groups === undefined) continue
      const { code, rank, pid } = match.groups
      const exit = Number(code)
      // -1 as the result of a call means only that it failed.
      // Torque's own reason, no signal: -11 is its limit of time.
      if (exit === 0 || !Number.isSafeInteger(exit) || match[0] === 'rc=-1' || text.startsWith('Exit_status=-')) return
      if (WORDED.includes(form) && (SUPPOSED.test(text) || QUESTION.test(text) || !REPORTED.test(text.slice(match.index + match[0].length)))) return
      // PBS adds 256 to a signal, where shells add 128.
      const signal = signalOfExit(text.startsWith('Exit_status=') && exit > 256 ? exit - 128 : exit)
      const ofMpi = exit > 255 && match[0].includes('Abort(')
      const said = known({ exit_code: ofMpi ? undefined : exit, rank: whole(rank), pid: whole(pid) })
      if (exit === TIMED_OUT) found({ type: 'order', at, text: raw, kind: 'time_limit', sure: true, facts: said })
      // PyCharm's -1 is that of a program that was stopped, no signal.
      else if (signal === undefined || exit === 255 || (exit === -1 && text.startsWith('Process finished'))) found({ type: 'exit', at, text: raw, facts: said })
      else found({ type: 'signal', at, text: raw, signal, by: WORDED.includes(form) ? 'shell' : 'launcher', facts: { ...said, signal } })
      return
    }
  }
}
