// The reports of LSF, PBS, Grid Engine and of Slurm's seff name their job in their first lines, and say below how it ended.
import type { ReadLine } from '../../traceback/line.ts'
import type { Sign } from '../evidence.ts'

const NAMED =
  /^(?:Subject: Job |Job <)(\d{1,12})(?:\[\d{1,9}\])?[:>]|^(?:PBS )?Job I[Dd] {0,12}: {1,8}(\d{1,12})(?:_\d{1,9}|(?:\[\d{0,9}\])?\.\S{1,80})?$|^(?:Job|Job-array task) (\d{1,12})(?:\.\d{1,9})? \(\S{1,80}\) (?:Aborted|Complete|Started)$/
const ENDED =
  /^TERM_[A-Z_]{3,30}\b|^Exited with exit code \d|^State: (?:FAILED|TIMEOUT|OUT_OF_MEMORY|CANCELLED|NODE_FAIL|PREEMPTED)\b|^(?:MOAB_INFO: {1,4})?[Jj]ob exceeded |^Aborted by PBS|^[Jj]ob (?:preempted|deleted)\b|^Exit_status=|^ ?Exit Status {1,8}= /

export type ReportedJob = {
  readonly add: (line: ReadLine) => void
  /** The sign with the job's number, where the report gave it. */ readonly named: (sign: Sign) => Sign
}

export function createReportedJob(): ReportedJob {
  let job: number | undefined
  return {
    add: ({ text }) => {
      const found = /^(?:Subject: |PBS )?Job[ -]/.test(text) ? NAMED.exec(text) : null
      const number = found?.slice(1).find((group) => group !== undefined)
      if (number !== undefined) job = Number(number)
    },
    named: (sign) =>
      job !== undefined && (sign.type === 'order' || sign.type === 'exit' || sign.type === 'signal') && ENDED.test(sign.text)
        ? { ...sign, facts: { job_id: job, ...sign.facts } }
        : sign,
  }
}
