// The reports of LSF and of Slurm's seff name their job in their first lines, and say below how it ended.
import type { ReadLine } from '../../traceback/line.ts'
import type { Sign } from '../evidence.ts'

const NAMED = /^(?:Subject: Job |Job <)(\d{1,12})(?:\[\d{1,9}\])?[:>]|^Job ID {0,12}: (\d{1,12})(?:_\d{1,9})?$/
const ENDED = /^TERM_[A-Z_]{3,30}\b|^Exited with exit code \d|^State: FAILED\b/

export type ReportedJob = {
  readonly add: (line: ReadLine) => void
  /** The sign with the job's number, where the report gave it. */ readonly named: (sign: Sign) => Sign
}

export function createReportedJob(): ReportedJob {
  let job: number | undefined
  return {
    add: ({ text }) => {
      const found = text.startsWith('Subject: Job ') || text.startsWith('Job ') ? NAMED.exec(text) : null
      const number = found?.[1] ?? found?.[2]
      if (number !== undefined) job = Number(number)
    },
    named: (sign) =>
      job !== undefined && (sign.type === 'order' || sign.type === 'exit' || sign.type === 'signal') && ENDED.test(sign.text)
        ? { ...sign, facts: { job_id: job, ...sign.facts } }
        : sign,
  }
}
