// Takes the terminal over as `warpwatch top` does, and crashes.
import { openTerminal } from '../../agent/cli/top/terminal/terminal.ts'

openTerminal({ key: () => {}, redraw: () => {}, ended: () => {} })
process.stdout.write('taken over')
process.stdin.once('data', () => {
  throw new Error('crashed on purpose')
})
