// Signs that a program went on: progress, records of loggers, requests that are answered, a good end. What failed before them was handled.
import type { ReadLine } from '../../traceback/line.ts'

const BAR = /(\d{1,3})%\|[^|\n]{0,400}\| ?(\d[\d.,]{0,12}[kMG]?\/\d[\d.,]{0,12}[kMG]?)/g
const STEP =
  /(?:\b|_)(?:step|iter(?:ation)?|epoch)s?\b.{0,40}\d.{0,200}\bloss\w{0,12}['"]?\s{0,3}[:=]?\s{0,3}['"]?\d|['"]?loss['"]?: ?['"]?\d[\d.e+-]{0,20}['"]?,/i
const REQUEST = /"(?:GET|POST|PUT|HEAD) \S{1,300} HTTP\/\d(?:\.\d)?" (?:20[014]|304)\b|\[GIN\] .{10,40}\| 200 \|.{0,80} POST {1,8}"\/(?:api\/[cge]|v1\/)/
const GOOD_END =
  /^PASS(?:ED)?\b|\bPASSED {2,}\[ {0,2}\d{1,3}%\]|^=+ (?!.{0,200}\b(?:failed|errors?)\b).{0,40}\b\d{1,6} passed\b|^test result: ok\.|^ok {2}\t|^OK(?: \([\w =,]{1,80}\))?$|(?<!n't )\bexits? successfully\b|[Tt]raining (?:is )?(?:completed?|finished|done)\b|\b[Jj]ob (?:is )?(?:completed?|finished|done)\b(?!.{0,60}(?:fail|err|exit|code|status))|\bexit(?:ed)?(?: with)?(?: code:?| status)? 0\b|\bexit (?:code|status) of \S{1,40}: 0$|^[Aa]ll done\b|'train_runtime'|Application startup complete|(?<!\babort.{1,60})(?:complet|finish)ed successfully|Finished a trial|`?Trainer\.fit`? stopped|\b[Ee]arly stopping\b(?! patience)|\b(?:self-?)?(?:test|check)s? passed\b(?!.{0,40}\b(?:fail|err))|\bworker group successfully finished\b|WorkerState\.SUCCEEDED|\breturn code 0\b|\bas SUCCESS\b|\b[Ss]uccessfully completed|\bwill be retried\b| -- Execution is retried \(|\b[1-9]\d{0,3}(?:\/\d{1,4})? (?:retries|attempts|tries) (?:remaining|left)\b|\b[Tt]rial \S{1,60} (?:completed|finished)\b|^Succeeded {1,8}: [1-9]|\btraining in \d[\d.]{0,12} s|^Optimizer stripped from \S|\b[Rr]etry(?:ing)?\b(?=[^\n]{0,60}\b(\d{1,3}) ?(?:\/|of) ?(?!\1\b)\d{1,3}\b)/
/** What is printed while a program ends: of launchers, loggers of experiments, clean-up. */
const ENDING =
  /wandb|kill|exit|terminat|shut|clos|clean|stopp|abort|fail|error|crash|exception|traceback|elastic|slurm|srun|raylet|signal|sync|upload|leaked|teardown|destroy|cancel|finaliz|flush|retry|warn|output dir|died|dead|lost|unreachable|disconnect|dump|gave up|fatal|emergency/i
/** uvicorn's and hypercorn's last words. */
const CLOSED =
  /\bFinished server process \[\d{1,10}\]|\bApplication shutdown complete\b|(?:ing|ed|own) (?:gracefully|cleanly)\b|\bgraceful (?:exit|shut ?down) (?:complete|done|finished)/i
/** A server that stopped in good order runs again: Apache's, nginx's and others' first words. */
const RUNS_AGAIN =
  /\bresuming normal operations\b|\bready (?:to accept|for) connections\b|\bstart worker process(?:es)?\b|\b[Ss]erver (?:has )?(?:re)?started\b/
/** The result that a program prints last; before other lines it is one of many. */
const RESULT =
  /^best\b[^\n\d]{0,40}\d|^(?:final|test|eval\w{0,8}|overall|mean|average)\b[^\n\d]{0,40}\b(?:acc|score|auc|map|f1|iou|bleu|loss|perplexity|reward|mse|rmse|mae)\w{0,10}\b[^\n\d]{0,20}\d|\b\d{1,9} ?(?:of|\/) ?\d{1,9} \w{2,20} (?:completed|succeeded|finished|done|processed)\b|\b(\d{1,9}) (?:of|\/) \1 \w{2,20}$|^\d{1,9} \w{2,20} (?!passed)\w{2,12}, \d{1,9} (?:failed|skipped|errors?|broken|dropped)$|^(?:accuracy|pass@\d{1,3}|top-?[15]|bleu|rouge-?\w{0,4}|f1|map|wer|cer|auc|throughput)\b[^\n]{0,60}\d|^(?:wrote|exported) \S{1,200}\.(?!log$|err$|out$)\w{2,8}$|^all [\w ]{2,40} (?:processed|completed?|done|finished|succeeded)\b|^(?:results?|metrics|outputs?) (?:were )?(?:written|saved) to \S/i
/** All of what it counted: `chunk 4/4 processed`. */
const ALL_DONE = /\b([2-9]|\d{2,9}) ?(?:of|\/) ?\1 \w{2,20}$/
/** The last line of a program that ends because of what it reported above. */
const GIVES_UP = /\b(?:giving up|gave up|bailing out|aborting|cannot (?:continue|go on)|can(?:'|no)t recover)[.!]{0,3}$/i
/** What a program counts while it works. */
const WORK =
  /\b(?:\w{0,10}steps?|iter\w{0,10}|epochs?|batch|samples?|records?|items?|shards?|seeds?|trials?|lr|loss|acc|scores?|rewards?|processed|requests?|files?|frames?|images?|tokens?|rounds?|episodes?|folds?|tasks?|chunks?|rows?)\b/i
const FIGURE = /\d[\d.,]{0,20}/g
/** What only a loop counts, and so many lines of it in a row are work that began after the failure. */
const LOOP = /\b(?:epochs?|iters?|iterations?|(?:global_)?steps?)\b\W{0,3}\d/i
const OF_SEVERAL = /\b(?:rank|worker|node|attempt|retr\w*|trial)\b/i
const IN_A_ROW = 3
const COUNTED_LENGTH = 240
const COUNTERS = 64
/** A bar that moved after so many failures did not stand still after the last. */
const GOES_ON = 3
/** A server says that it was asked to stop. */
const STOPS =
  /\[shutdown\] \S.{0,40}: shutdown triggered|\bsignal=SIG(?:TERM|INT)\b|\bSIG(?:TERM|INT) received\b|\b[Rr]eceived (?:signal:? )?\(?(?:SIG(?:TERM|INT)|15\b)|\bINFO: {1,6}Shutting down$/
/** The next run of a job that was preempted or cut, in the same log. */
const RESUMES = /\b(?:[Rr]esum(?:ed?|ing)|[Rr]equeued|[Rr]estart count|[Ll]oading checkpoint|[Rr]estor(?:ed|ing))\b|\(restart \d{1,3}(?:\/\d{1,3})?\)/
/** Lightning's under Slurm, of a signal after which it goes on. */
const IGNORES = /^(?:\[rank: \d{1,6}\] )?Bypassing (?:signal )?SIG(?:TERM|CONT)\b/
/** A run begins: what failed above is that of another one in the same file. */
const BEGINS = /^\W{0,6}(?:new |next )?run (?:started|begins?|starts?)\b|^\W{0,6}(?:starting|begin(?:ning)?) (?:a )?(?:new )?run\b|^Script started on /i
export const isEnding = (text: string): boolean => ENDING.test(text)
const PLAIN_RECORD = /^\[\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?\]/

export type Life = {
  /** `failedAt`: of the last line that reported a failure, 0 where none did; before one, only bars and counters are followed. */
  readonly add: (line: ReadLine, failedAt: number) => void
  /** Number of the last line that shows it; 0 where none does. */
  readonly lastAt: () => number
  /** The same, of counters, bars and results only: not of records and requests, which go on where one worker of many has failed. */
  readonly progressAt: () => number
  /** Of the last line by which a server says that it closed in good order. */
  readonly closedAt: () => number
  /** Of the line by which it said before that it was asked to stop; 0 where none did, or it stopped since it failed. */
  readonly stoppedAt: () => number
  /** Of the last line by which a job went on from where an earlier run stood. */
  readonly resumedAt: () => number
  /** Of the last line by which it says that it ignores a signal. */
  readonly ignoredAt: () => number
  /** Of the last line with which a run of its own began. */
  readonly begunAt: () => number
  /** Its last line says that it gives up. */
  readonly gaveUp: () => boolean
}

export function createLife(): Life {
  let lastAt = 0
  let closedAt = 0
  let stoppedAt = 0
  let resumedAt = 0
  let begunAt = 0
  let ignoredAt = 0
  let gaveUpAt = 0
  let bar: string | undefined
  let progressAt = 0
  /** The first move of a bar since the program failed: tqdm draws a bar once more where it closes. */
  let closing: { readonly number: number; readonly lastAt: number; readonly progressAt: number } | undefined
  /** The failure after which a bar moved last, and after how many it did. */
  let movedFor = 0
  let goesOn = 0
  let result = 0
  let last = 0
  const counters = new Map<string, { readonly since: number; readonly figures: readonly number[]; readonly row: number }>()
  /** `on`: this line's words was there with lower figures before the failure, so the program went on counting. `first`: they are there for the first time. */
  const counted = ({ text, number }: ReadLine, failedAt: number): 'on' | 'first' | undefined => {
    if (text.length > COUNTED_LENGTH || text.includes('%|') || !WORK.test(text) || ENDING.test(text)) return undefined
    const figures = (text.match(FIGURE) ?? []).map((figure) => Number.parseFloat(figure.replaceAll(',', '')))
    if (figures.length === 0) return undefined
    const words = text.replace(FIGURE, '0')
    const before = counters.get(words)
    counters.delete(words)
    const moved = figures.findIndex((figure, index) => figure !== before?.figures[index])
    const rose = before !== undefined && (figures[moved] ?? 0) > (before.figures[moved] ?? Infinity)
    const row = rose ? before.row + 1 : 1
    counters.set(words, { since: before?.since ?? number, figures, row })
    const [oldest] = counters.keys()
    if (counters.size > COUNTERS && oldest !== undefined) counters.delete(oldest)
    if (before === undefined) return 'first'
    if (before.since < failedAt) return rose ? 'on' : undefined
    return failedAt > 0 && row >= IN_A_ROW && LOOP.test(text) && !OF_SEVERAL.test(text) ? 'on' : undefined
  }
  /** A bar is last, and it moved only once since the program failed. */
  const closed = (): boolean => closing?.number === last
  return {
    add(line, failedAt) {
      const { raw, number } = line
      last = number
      const text = raw.length > 4_000 ? raw.slice(-4_000) : raw
      if (text.includes('%|')) {
        for (const [, percent, count] of text.matchAll(BAR)) {
          // A bar is printed again when its program ends.
          const moved = bar === undefined ? percent === '100' : bar !== count && percent !== '0'
          bar = count
          if (!moved) continue
          if (failedAt > 0 && movedFor !== failedAt) goesOn += 1
          closing = failedAt > 0 && movedFor !== failedAt && goesOn < GOES_ON && percent !== '100' ? { number, lastAt, progressAt } : undefined
          movedFor = failedAt
          lastAt = progressAt = number
        }
      }
      const count = counted(line, failedAt)
      if (count === 'on') lastAt = progressAt = number
      if (stoppedAt === 0 && STOPS.test(text)) stoppedAt = number
      if (stoppedAt > 0 && CLOSED.test(text)) closedAt = number
      if (failedAt === 0) return
      // Of a round it would be there after each.
      if (ALL_DONE.test(line.text) && !ENDING.test(line.text)) result = number
      if (RESULT.test(line.text) && (count === 'first' || !/\d/.test(line.text) || !WORK.test(line.text))) result = number
      if (CLOSED.test(text) || RUNS_AGAIN.test(text)) closedAt = number
      if (RESUMES.test(text)) resumedAt = number
      if (BEGINS.test(line.text)) begunAt = number
      if (IGNORES.test(line.text)) ignoredAt = number
      if (GIVES_UP.test(line.text)) gaveUpAt = number
      if (GOOD_END.test(text) || (text.includes('oss') && !text.includes('%|') && STEP.test(text) && !/\bnan\b/i.test(text))) lastAt = progressAt = number
      if (REQUEST.test(text)) lastAt = number
      const record = line.record ? line.level === 'info' || line.level === 'debug' || (line.level === undefined && PLAIN_RECORD.test(text)) : false
      if (record && !ENDING.test(text) && !CLOSED.test(text)) lastAt = number
    },
    lastAt: () => (result === last ? result : closed() ? (closing?.lastAt ?? 0) : lastAt),
    progressAt: () => (result === last ? result : closed() ? (closing?.progressAt ?? 0) : progressAt),
    closedAt: () => closedAt,
    stoppedAt: () => stoppedAt,
    resumedAt: () => resumedAt,
    begunAt: () => begunAt,
    gaveUp: () => gaveUpAt > 0 && gaveUpAt === last,
    ignoredAt: () => ignoredAt,
  }
}
