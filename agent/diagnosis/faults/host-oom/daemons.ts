// Kills by the daemons that act before the kernel must: systemd-oomd, earlyoom and nohang.
import type { Facts } from '../../../model/facts.ts'
import { gibAsPrinted as gib } from '../../../text/bytes.ts'
import type { LogText } from '../family.ts'
import type { Situation } from '../../situation/situation.ts'
import type { Piece } from '../remedies/plan.ts'
import { around, known, whole } from '../parts/window.ts'
import { hostFull, needLess } from './remedies.ts'

type Reported = { readonly verdict: string; readonly facts: Facts; readonly lines: readonly number[]; readonly pieces: readonly Piece[] }

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

function byWatcher(text: LogText, at: number, situation: () => Situation): Reported | undefined {
  const line = text[at] ?? ''
  if (!/nohang|earlyoom/.test(line) || !/Victim status|Sending SIG(?:TERM|KILL) to|sending SIG(?:TERM|KILL) to process/.test(line)) return undefined
  const [, pid, process] =
    /PID: {1,12}(\d{1,10}), name: ([^,]{1,40}),/.exec(around(text, at, 0, 3)) ?? /process (\d{1,10}) uid \d{1,10} "([^"]{1,40})"/.exec(line) ?? []
  const above = around(text, at, 8, 0)
  const early = EARLYOOM.exec(above)
  const [, left, share] = NOHANG.exec(above) ?? (early === null ? [] : [undefined, gib(inMib(early[1]) ?? 0), early[2]])
  const held = inMib(/VmRSS:? {1,4}(\d{1,9}) MiB/.exec(line)?.[1])
  // The share at which it acts: on a large host much is left then.
  const limit = /SIG(?:TERM|KILL) limits: mem {1,3}([\d.]{1,6}) ?%/.exec(above)?.[1]
  const daemon = /nohang|earlyoom/.exec(line)?.[0] ?? 'A low-memory daemon'
  return {
    verdict: `${daemon} chose ${process ?? 'a process'}${pid === undefined ? '' : ` (pid ${pid}${held === undefined ? '' : `, ${gib(held)}`})`} to end before the host ran out of memory${left === undefined ? '' : `: ${left} (${share} %) was left`}.`,
    facts: known({ pid: whole(pid), process }),
    lines: [at, at + 1].filter((n) => n < text.length),
    pieces: [
      hostFull(known({ process, anon_rss_bytes: held }), situation()),
      limit !== undefined && {
        text: `Or let ${daemon} act later (its option -m): it acts when less than ${Number(limit)} % of memory is left, which is much on a large host.`,
      },
    ],
  }
}
