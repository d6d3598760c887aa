// Stacks of one process as text: faulthandler, py-spy, and Python's own tracebacks of threads.
import { rankOf, type Frame, type Thread } from '../model.ts'
import { headText, type EvidenceReader } from './definition.ts'

const MOST_THREADS = 512
const MOST_FRAMES = 100

/** faulthandler writes innermost first. py-spy too: `    get (queue.py:171)`. */
const FAULTHANDLER = /^ {2}File "([^"\n]{1,1000})", line (\d{1,7})(?:,)? in (\S{1,200})/
const PY_SPY = /^\s{4}(\S{1,200}) \((.{1,1000}):(\d{1,7})\)/
const THREAD = /^(?:Current thread|Thread) (0x[0-9a-f]{1,16}|\d{1,10})(?: \[([^\]]{1,64})\])?(?: \(([^)]{0,80})\))?(?:: "([^"]{0,64})")?/
const TIMER = /^Timeout \((\d+):(\d\d):(\d\d)(?:\.\d+)?\)!/m

export function threadsOf(text: string): Thread[] {
  const threads: { id: string; name?: string; holdsGil?: boolean; frames: Frame[] }[] = []
  for (const line of text.split('\n')) {
    const [header, id = '', name, state = '', quoted] = THREAD.exec(line) ?? []
    if (header !== undefined) {
      if (threads.length >= MOST_THREADS) break
      const said = quoted ?? name
      threads.push({ id, ...(said === undefined ? {} : { name: said }), ...(state.includes('gil') ? { holdsGil: true } : {}), frames: [] })
      continue
    }
    const frame = frameOf(line)
    const thread = threads.at(-1)
    if (frame !== undefined && thread !== undefined && thread.frames.length < MOST_FRAMES) thread.frames.push(frame)
  }
  return threads.filter(({ frames }) => frames.length > 0)
}

function frameOf(line: string): Frame | undefined {
  const [, file, number, name] = FAULTHANDLER.exec(line) ?? []
  if (file !== undefined) return { file, line: Number(number), function: name ?? '' }
  const [, called, place, at] = PY_SPY.exec(line) ?? []
  return place === undefined ? undefined : { file: place, line: Number(at), function: called ?? '' }
}

/** The main thread began the program: its outermost frame is `<module>`, and no thread's start is below it. Of several, the last, as faulthandler writes them. */
export function mainThread(threads: readonly Thread[]): Thread | undefined {
  const named = threads.find(({ name }) => name === 'MainThread')
  return named ?? threads.findLast(({ frames }) => !frames.some(({ function: called }) => /^_?bootstrap(_inner)?$/.test(called))) ?? threads.at(-1)
}

export const stacks: EvidenceReader = {
  name: 'stacks',
  mostBytes: 8 * 2 ** 20,
  recognises: (file) =>
    /^(?:Timeout \(|(?:Current thread|Thread) (?:0x|\d)|Process \d+: )/m.test(headText(file)) &&
    /most recent call first|^\s{4}\S+ \(.+:\d+\)$|\((?:idle|active)[^)]*\)/m.test(headText(file)),
  read(file, evidence) {
    if (file.rank === undefined) return
    const text = file.text()
    const threads = threadsOf(text)
    const me = rankOf(evidence, file.rank)
    const child = /child_(\d{1,10})/.exec(file.name)?.[1]
    if (child !== undefined) {
      me.children.push({ pid: Number(child), threads })
      return
    }
    me.threads.push(...threads)
    const [, hours, minutes, seconds] = TIMER.exec(text) ?? []
    if (seconds !== undefined) me.stalledSeconds = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)
  },
}
