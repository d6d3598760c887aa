// What an action did about an incident, as one line for reports and terminals.
import type { ActionResult, ActionState } from '../model/action.ts'
import { tookText } from './span.ts'

const STATE: Readonly<Record<ActionState, string>> = {
  started: 'still running',
  done: 'done',
  failed: 'failed',
  timeout: 'timed out',
  dry_run: 'dry run',
  skipped: 'skipped',
  interrupted: 'interrupted',
}

/** `failed after 420 ms: exit code 1`; texts that say the state themselves are alone. */
export function actionText({ state, text, took_ms: took }: Pick<ActionResult, 'state' | 'text' | 'took_ms'>): string {
  return `${STATE[state]}${took === undefined ? '' : ` after ${tookText(took)}`}: ${text}`
}
