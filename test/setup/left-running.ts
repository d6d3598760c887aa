// Programs that a test file started and left running when the run ends: they would go on writing, hold ports, and slow down whoever tests next.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { basename } from 'node:path'

export type LeftRunning = { readonly pid: number; readonly command: string; readonly file: string }

/** Set for all that a test file starts: which one it was. */
export const FILE_VARIABLE = 'TEST_FILE'

/** Of whoever inherited it from this run; a process that has ended, a zombie or another user's is none. */
function startedBy(pid: number, folder: string): LeftRunning | undefined {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0')
    const file = variables.find((each) => each.startsWith(`${FILE_VARIABLE}=`))?.slice(FILE_VARIABLE.length + 1)
    if (file === undefined || !variables.includes(`TEST_RUN_FOLDER=${folder}`)) return undefined
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim()
    return command === '' ? undefined : { pid, command: `${basename(readlinkSync(`/proc/${pid}/exe`))}: ${command.slice(0, 200)}`, file }
  } catch {
    return undefined
  }
}

/** What still runs when `patienceMs` are over: what is just ending needs a moment. Only Linux has `/proc`; elsewhere nothing is found. */
export async function leftRunning(folder: string, patienceMs: number): Promise<readonly LeftRunning[]> {
  const look = (): readonly LeftRunning[] => {
    try {
      return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) && Number(name) !== process.pid ? (startedBy(Number(name), folder) ?? []) : []))
    } catch {
      return []
    }
  }
  const until = performance.now() + patienceMs
  let left = look()
  while (left.length > 0 && performance.now() < until) {
    await delay(100)
    left = look()
  }
  return left
}
