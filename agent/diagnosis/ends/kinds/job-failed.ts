// The job ended badly, and only a code or a reason is known.
import { isPodState, podEvents, podLastWords } from '../../faults/remedies/kubernetes.ts'
import type { Piece } from '../../faults/remedies/plan.ts'
import { WEIGHT, quote, type EndKind } from '../end-kind.ts'
import { runsPython, serverSteps } from '../who-runs.ts'

/** BuildKit names the step that failed; its lines carry the number of the step and the seconds. */
function buildStep(text: string): { readonly command: string; readonly said: string | undefined } | undefined {
  const [, number, command] =
    /^(?:#(\d{1,4}) )?ERROR: (?:failed to (?:solve|build): )?(?:failed to solve: )?process "(?:\/bin\/\w+ -\w+ )?([^\n]{1,600}?)" did not complete successfully/m.exec(
      text,
    ) ?? []
  if (command === undefined) return undefined
  const above = text.slice(0, text.indexOf('did not complete successfully')).split('\n').slice(-40, -1)
  const lines = above.flatMap((line) => {
    const [, step, words] = /^(?:#?(\d{1,4}) )?(?:\d{1,5}\.\d{1,3} )?(.{3,400})$/.exec(line) ?? []
    return words === undefined || (number !== undefined && step !== undefined && step !== number) ? [] : [words.trim()]
  })
  const said = lines.findLast((line) => /error|fail|cannot|not found|no such|denied|^E: /i.test(line))
  return { command: command.replaceAll(/\s+/g, ' ').slice(0, 120), said: said?.slice(0, 240) }
}

/** Each launcher has options of its own for it. */
function rankOutput(text: string): Piece {
  const cause = 'The cause is in the output of the rank that failed first; let'
  if (/accelerate[-_ ]launch|[\\/]accelerate[\\/]commands[\\/]/.test(text))
    return { text: `${cause} accelerate keep each rank's own.`, command: 'accelerate launch --log_dir logs --tee 3 <SCRIPT>' }
  if (/\[launch\.py:\d|[\\/]deepspeed[\\/]launcher[\\/]|bin[\\/]deepspeed\b/.test(text))
    return { text: `${cause} DeepSpeed keep each rank's own.`, command: 'deepspeed --enable_each_rank_log logs <SCRIPT>' }
  return { text: `${cause} torchrun keep each rank's own.`, command: 'torchrun --log-dir logs --redirects 3 --tee 3 <SCRIPT>' }
}

const MPI = /\bMPI_A(?:BORT|bort)\b|\bmpi(?:run|exec)\b/

/** What Slurm says of a step when it ends the tasks that are left. */
const ENDED_STEP = /\*{3} STEP \d[^\n]{0,160} CANCELLED AT |\*{3} STEP \d[^\n]{0,80} FAILED \(/
const TORCHRUN = /torchrun|torch[./]distributed|elastic/

/** Of Python's subprocess, and of Snakemake, which passes it on. */
const OF_COMMAND = /^(?:CalledProcessError: [^]{1,6000}returned non-zero\s{1,3}exit status \d|RuleException:\s{1,4}CalledProcessError in line \d)/
/** SageMaker's reason, where it is no more than a code or a command. */
const OF_SAGEMAKER = /\bFailed\.? Reason: AlgorithmError: (?:Exit Code: \d|ExecuteUserScriptError:\s)/

export const jobFailed: EndKind = {
  kind: 'job_failed',
  stage: 'last',
  severity: 'critical',
  claims: ({ name, message, full }) =>
    // All that a parent knows of the program that it started.
    OF_COMMAND.test(`${name}: ${full}`)
      ? { weight: WEIGHT.words }
      : // torchrun's own, whose table is not in the text.
        name === 'ChildFailedError' && message.trim() === ''
        ? { weight: WEIGHT.words }
        : // What a client says of a job that ran elsewhere.
          OF_SAGEMAKER.test(message)
          ? { weight: WEIGHT.exception + 0.25 }
          : name !== undefined && /^(?:message|shell|library|python|Error)$/.test(name)
            ? { weight: WEIGHT.words / 4 }
            : undefined,
  title: ({ facts: { exit_code: code, reason } }) =>
    `The job failed${code === undefined ? (reason === undefined ? '' : `: ${reason}`) : ` with exit code ${code}`}`,
  verdict: (context) => {
    const step = buildStep(context.situation.text)
    if (step !== undefined) return `The build of the image ended at the step "${step.command}"${step.said === undefined ? '' : `, which said: "${step.said}"`}.`
    const { exit_code: code, reason } = context.facts
    const words = quote(context)
    if (code !== undefined && words === '' && context.facts.rank !== undefined && ENDED_STEP.test(context.situation.text))
      return `Task ${context.facts.rank} ended with exit code ${code}, and Slurm ended the other tasks of its step. The text does not say why it did.`
    return `The job ended${code === undefined ? ' badly' : ` with exit code ${code}`}${reason === undefined ? '' : ` (${reason})`}${words === '' ? '' : `: "${words}"`}. The text does not say more about why.`
  },
  remedies: ({ facts: { exit_code: code, rank }, situation, error }) => [
    buildStep(situation.text) !== undefined && [
      /Curl error|all mirrors|Failed to fetch|[Cc]ould ?n[o']t? resolve|[Tt]emporary failure|[Tt]imed out/.test(buildStep(situation.text)?.said ?? '')
        ? {
            text: 'A server of packages did not answer as it should: build again, from another mirror where it stays so; see that the builder reaches the network (proxy, DNS).',
          }
        : { text: 'Correct what that step says; to try it by hand, start the image of the step before and run its command there.' },
      { text: 'Show the whole output of the build.', command: 'docker build --progress=plain --no-cache .' },
    ],
    buildStep(situation.text) === undefined && [
      MPI.test(situation.text)
        ? {
            text: `Look above for the error of ${rank === undefined ? 'the rank that failed first' : `rank ${rank}`}; let mpirun put the rank before each line.`,
            command: 'mpirun --tag-output <COMMAND>',
          }
        : rank !== undefined && (!runsPython(situation) || (ENDED_STEP.test(situation.text) && !TORCHRUN.test(situation.text)))
          ? {
              text: `The cause is in the output of task ${rank}.${situation.programs.has('slurm') ? ' Let srun put the number of the task before each line.' : ''}`,
              ...(situation.programs.has('slurm') ? { command: 'srun --label <COMMAND>' } : {}),
            }
          : rank !== undefined || situation.distributed
            ? rankOutput(situation.text)
            : isPodState(situation)
              ? podLastWords(situation)
              : { text: "Look at the program's own output just before its end; it may be in another file." },
      serverSteps(situation),
      /waiting for llama runner to start/.test(error?.message ?? '') && {
        text: 'Loading took longer than Ollama waits (5 min): a slow disk or host memory that swaps. Let it wait longer.',
        command: 'export OLLAMA_LOAD_TIMEOUT=20m',
      },
      code === 126 && { text: 'Code 126: the file was found but cannot be executed.', command: 'ls -l <PROGRAM>' },
      code === 127 && { text: 'Code 127: the program was not found.', command: 'command -v <PROGRAM>' },
      situation.programs.has('kubernetes') && podEvents(situation),
      situation.programs.has('slurm') && {
        text: 'See what Slurm recorded of it.',
        command: `sacct -j ${situation.subject.slurmJob ?? '<JOB_ID>'} --format=JobID,State,ExitCode,MaxRSS`,
      },
      runsPython(situation) &&
        !MPI.test(situation.text) && {
          text: 'Run it again with unbuffered output, so that its last lines are not lost.',
          command: 'PYTHONUNBUFFERED=1 PYTHONFAULTHANDLER=1 <COMMAND>',
        },
    ],
  ],
}
