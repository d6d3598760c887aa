// The job ended badly, and only a code or a reason is known.
import { WEIGHT, quote, type EndKind } from '../end-kind.ts'
import { runsPython, serverSteps } from '../who-runs.ts'

const MPI = /\bMPI_A(?:BORT|bort)\b|\bmpi(?:run|exec)\b/

export const jobFailed: EndKind = {
  kind: 'job_failed',
  stage: 'last',
  severity: 'critical',
  claims: ({ name }) => (name !== undefined && /^(?:message|shell|library|python|Error)$/.test(name) ? { weight: WEIGHT.words / 4 } : undefined),
  title: ({ facts: { exit_code: code, reason } }) =>
    `The job failed${code === undefined ? (reason === undefined ? '' : `: ${reason}`) : ` with exit code ${code}`}`,
  verdict: (told) => {
    const { exit_code: code, reason } = told.facts
    const words = quote(told)
    return `The job ended${code === undefined ? ' badly' : ` with exit code ${code}`}${reason === undefined ? '' : ` (${reason})`}${words === '' ? '' : `: "${words}"`}. The text does not say more about why.`
  },
  remedies: ({ facts: { exit_code: code, rank }, situation, error }) => [
    MPI.test(situation.text)
      ? {
          text: `Look above for the error of ${rank === undefined ? 'the rank that failed first' : `rank ${rank}`}; let mpirun put the rank before each line.`,
          command: 'mpirun --tag-output <COMMAND>',
        }
      : rank !== undefined && !runsPython(situation)
        ? {
            text: `The cause is in the output of task ${rank}.${situation.programs.has('slurm') ? ' Let srun put the number of the task before each line.' : ''}`,
            ...(situation.programs.has('slurm') ? { command: 'srun --label <COMMAND>' } : {}),
          }
        : rank !== undefined || situation.distributed
          ? {
              text: "The cause is in the output of the rank that failed first; let torchrun keep each rank's own.",
              command: 'torchrun --log-dir logs --redirects 3 --tee 3 <SCRIPT>',
            }
          : { text: "Look at the program's own output just before its end; it may be in another file." },
    serverSteps(situation),
    /waiting for llama runner to start/.test(error?.message ?? '') && {
      text: 'Loading took longer than Ollama waits (5 min): a slow disk or host memory that swaps. Let it wait longer.',
      command: 'export OLLAMA_LOAD_TIMEOUT=20m',
    },
    code === 126 && { text: 'Code 126: the file was found but cannot be executed.', command: 'ls -l <PROGRAM>' },
    code === 127 && { text: 'Code 127: the program was not found.', command: 'command -v <PROGRAM>' },
    situation.programs.has('kubernetes') && { text: 'See the events of the pod.', command: `kubectl describe pod ${situation.subject.pod ?? '<POD>'}` },
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
}
