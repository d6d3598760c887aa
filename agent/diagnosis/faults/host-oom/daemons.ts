// Kills by the daemons that act before the kernel must: systemd-oomd, earlyoom and nohang.
import type { Facts } from '../../../model/facts.ts'
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import type { LogText } from '../family.ts'
import type { Situation } from '../../situation/situation.ts'
import type { Piece } from '../remedies/plan.ts'
import { around, known, whole } from '../parts/window.ts'
import { hostFull, needLess } from './remedies.ts'

type Reported = {
  /** It was asked to end and did not. */
  readonly lives?: boolean
  readonly verdict: string
  readonly facts: Facts
  readonly lines: readonly number[]
  readonly pieces: readonly Piece[]
}

export const byDaemon = (text: LogText, at: number, situation: () => Situation): Reported | undefined =>
  bySystemd(text[at] ?? '', at, situation) ?? byWatcher(text, at, situation)

function bySystemd(line: string, at: number, situation: () => Situation): Reported | undefined {
  const pressed = /systemd-oomd\b.{0,80}\bKilled (\/\S{2,300}) due to (memory (?:pressure|used))(?: for \S{2,300} being ([\d.]{1,8}%))?/.exec(line)
  if (pressed === null) return undefined
  const scope = /([^/]{1,120})$/.exec(pressed[1] ?? '')?.[1]
  return {
    verdict: `systemd-oomd killed ${scope ?? 'a unit'} before the host ran out of memory: ${pressed[2] === 'memory pressure' ? `memory pressure in its cgroup was ${pressed[3] ?? 'above the limit'}` : 'memory and swap were nearly used up'}. The kernel's OOM killer was not involved.`,
    facts: {},
    lines: [at],
    pieces: [
      needLess({}, situation()),
      {
        text: 'Start the job outside the desktop session, in a scope that systemd-oomd leaves alone. Only the preference of a scope that root owns always counts (systemd.resource-control).',
        command: 'sudo systemd-run --scope --uid="$USER" -p ManagedOOMPreference=omit <COMMAND>',
      },
      { text: 'See what systemd-oomd watches, and its limits; more swap gives it more time.', command: 'oomctl' },
    ],
  }
}

/** In a list of nohang, or in earlyoom's one line. */
const NOHANG = /MemAvailable \[([\d.]{1,12} [KMG]iB), ([\d.]{1,6}) ?%\]/
const EARLYOOM = /mem avail: {1,6}(\d{1,9}) of +\d{1,9} MiB \( ?([\d.]{1,6}) ?%\)/
const inMib = (amount: string | undefined): number | undefined => (amount === undefined ? undefined : Number(amount) * 2 ** 20)

/** earlyoom of all releases: `sending SIGTERM to process 7 uid 0 "x": …`, before 1.3 `killing process 7 "x" with signal 15: …` or `Killing process 'x' with signal 15, pid: 7, …`. */
const OF_EARLYOOM =
  /(?:sending SIG(?:TERM|KILL) to|[Kk]illing) process (?:(\d{1,10}) (?:uid \d{1,10} )?"([^"]{1,40})"|'([^']{1,40})' with signal \d{1,2}, pid: (\d{1,10}))/
/** The share of memory below which it acts; from here on, raising it helps. */
const MUCH = 3

function byWatcher(text: LogText, at: number, situation: () => Situation): Reported | undefined {
  const line = text[at] ?? ''
  const early = OF_EARLYOOM.exec(line)
  const above = around(text, at, 8, 0)
  // Its line names its limits above, or what it goes by.
  if (early === null ? !/nohang|earlyoom/.test(line) || !/Victim status|Sending SIG(?:TERM|KILL) to/.test(line) : !/badness|VmRSS|oom_score/.test(line))
    return undefined
  const listed = /PID: {1,12}(\d{1,10}), name: ([^,]{1,40}),/.exec(around(text, at, 0, 3))
  const pid = early?.[1] ?? early?.[4] ?? listed?.[1]
  const process = early?.[2] ?? early?.[3] ?? listed?.[2]
  const available = EARLYOOM.exec(above)
  const [, left, share] = NOHANG.exec(above) ?? (available === null ? [] : [undefined, gib(inMib(available[1]) ?? 0), available[2]])
  const held = inMib(/VmRSS:? {1,4}(\d{1,9}) MiB/.exec(line)?.[1])
  // The share at which it acts: on a large host much is left then.
  const limit = Number(/SIG(?:TERM|KILL) limits:? \(?mem:? {1,3}([\d.]{1,6}) ?%/i.exec(above)?.[1] ?? 0)
  const daemon = early === null ? (/nohang/.exec(line)?.[0] ?? 'A low-memory daemon') : 'earlyoom'
  const lives = /did not exit|kill failed: Timer expired/.test(around(text, at, 0, 4))
  const who = `${process ?? 'a process'}${pid === undefined ? '' : ` (pid ${pid}${held === undefined ? '' : `, ${gib(held)}`})`}`
  return {
    verdict: `${daemon} chose ${who} to end before the host ran out of memory${left === undefined ? '' : `: ${left} (${share} %) was left`}.${limit >= 2 * MUCH ? ` It acts as soon as less than ${limit} % of memory is available.` : ''}${lives ? ' The process did not end.' : ''}`,
    lives,
    facts: known({ pid: whole(pid), process }),
    lines: [at, at + 1].filter((n) => n < text.length),
    pieces: [
      lives &&
        pid !== undefined && {
          text: 'See whether it still runs, and in which state (D: it waits for a device or a disk).',
          command: `ps -o pid,stat,wchan,rss,args -p ${pid}`,
        },
      hostFull(known({ process, anon_rss_bytes: held }), situation()),
      limit >= MUCH && {
        text: `Or let ${daemon} act later (its option -m): it acts when less than ${limit} % of memory is left, which is much on a large host.`,
      },
    ],
  }
}
