// A summary of waste is never sent twice, however often the agent is killed and wherever its clock jumps, and none is left out. WARPWATCH_KILLS=200 is the whole of it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DAY, folder, T } from '../../setup/alert-scene.ts'

const KILLS = Number(process.env['WARPWATCH_KILLS'] ?? 10)

test(`killed ${KILLS} times, each day and week is sent by one message`, { timeout: KILLS * 30_000 }, async () => {
  const directory = folder()
  const [keys, days, twice] = [new Map<string, string>(), new Set<string>(), new Array<string>()]
  let [t, again] = [T, 0]
  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'waste-kills-child.ts'), directory, String(t)], { stdio: ['ignore', 'pipe', 'inherit'] })
    let said = ''
    const ended = once(child, 'close')
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk.toString('latin1')
      // In the middle of planning, of sending, or of the note that it was sent: each kill at another moment.
      if (said.split('\n').length > 6 + (kill % 5)) setTimeout(() => child.kill('SIGKILL'), (kill * 7) % 23)
    })
    await ended
    for (const line of said.split('\n').slice(0, -1)) {
      const [what, key = '', period = '', date = ''] = line.split(' ')
      if (what === 'at') t = Number(key)
      else {
        const name = `${period} ${date}`
        // A message that was on its way when the agent was killed comes again with its key, by which receivers know it.
        const before = keys.get(name)
        if (before === key) again += 1
        else if (before !== undefined) twice.push(name)
        keys.set(name, key)
        if (period === 'daily') days.add(date)
      }
    }
  }
  expect(twice).toEqual([])
  expect(again).toBeLessThanOrEqual(KILLS)
  const sorted = [...days].toSorted()
  expect(sorted.length).toBeGreaterThan(KILLS / 4)
  const gaps = sorted.slice(1).map((date, at) => (Date.parse(date) - Date.parse(sorted[at] ?? '')) / DAY)
  expect([...new Set(gaps)]).toEqual([1])
  expect([...keys.keys()].some((name) => name.startsWith('weekly'))).toBe(true)
})
