// How a systemd service ended, as its manager says: `systemctl show`. Result is of the last time that it ran.
import type { Outcome } from '../../model/job.ts'
import { signalName } from '../../text/signals.ts'
import { answerOf, type Answer, type Ask } from './reported-end.ts'
import { lookup } from '../../text/lookup.ts'

/** systemd.service(5), SERVICE_RESULT. What is not here is said by code and signal. */
const OUTCOMES: Readonly<Record<string, Outcome>> = { 'oom-kill': 'out_of_memory', timeout: 'time_limit', watchdog: 'killed' }
/** sys/wait.h: CLD_EXITED, CLD_KILLED, CLD_DUMPED. */
const EXITED = '1'
const KILLED = new Set(['2', '3'])
/** A service that is stopped gets these, and for systemd it has then ended as it should. */
const STOPS = new Set(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL', 'SIGPIPE'])

export function parseUnit(text: string, pid: number): Answer {
  const fields = new Map(text.split('\n').map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]))
  const [result, how, status] = ['Result', 'ExecMainCode', 'ExecMainStatus'].map((name) => fields.get(name) ?? '')
  // A process of it that was not the main one, or it runs again already.
  if (result === undefined || result === '' || fields.get('ExecMainPID') !== String(pid)) return undefined
  if (fields.get('ActiveState') === 'deactivating' || how === '0') return 'running'
  const signal = KILLED.has(how ?? '') ? signalName(Number(status)) : undefined
  const isStopped = result === 'success' && signal !== undefined && STOPS.has(signal)
  const outcome = isStopped ? 'cancelled' : lookup(OUTCOMES, result)
  return {
    by: 'systemd',
    words: isStopped ? 'stopped' : `Result=${result}`,
    ...(outcome === undefined ? {} : { outcome }),
    ...(how === EXITED ? { exit_code: Number(status) } : {}),
    ...(signal === undefined ? {} : { signal }),
  }
}

export const askSystemd = (ask: Ask, unit: string, pid: number): Promise<Answer> =>
  answerOf(ask, 'systemctl', ['show', '--property=Result,ExecMainCode,ExecMainStatus,ExecMainPID,ActiveState', '--', unit], (text) => parseUnit(text, pid))
