// LSF's report of a job names it in its first lines, and says how it ended many lines below.
import type { ReadLine } from '../../traceback/line.ts'
import type { Sign } from '../evidence.ts'

const NAMED = /^(?:Subject: Job |Job <)(\d{1,12})(?:\[\d{1,9}\])?[:>]/
const ENDED = /^TERM_[A-Z_]{3,30}\b|^Exited with exit code \d/

export type LsfJob = {
  readonly add: (line: ReadLine) => void
  /** The sign with the job's number, where LSF's report gave it. */ readonly named: (sign: Sign) => Sign
}

export function createLsfJob(): LsfJob {
  let job: number | undefined
  return {
    add: ({ text }) => {
      const number = text.startsWith('Subject: Job ') || text.startsWith('Job <') ? NAMED.exec(text)?.[1] : undefined
      if (number !== undefined) job = Number(number)
    },
    named: (sign) =>
      job !== undefined && (sign.type === 'order' || sign.type === 'exit' || sign.type === 'signal') && ENDED.test(sign.text)
        ? { ...sign, facts: { job_id: job, ...sign.facts } }
        : sign,
  }
}
