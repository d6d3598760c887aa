// VASP stops in a box: big letters, why, and that it refuses to go on.
import type { ReadLine } from '../../traceback/line.ts'
import type { Found } from '../evidence.ts'

const IN_BOX = /^\s{0,3}\|(.{20,160})\|\s{0,3}$/
const LETTERS = /^(?:E {5}|EEEE|R {4})|###|RRRR/
const STOPS = /\bI REFUSE TO CONTINUE WITH THIS SICK JOB\b/
const LONGEST = 400

export function createVaspReader(): (line: ReadLine, found: Found) => void {
  let said = ''
  let closed = false
  return ({ raw, number }, found) => {
    const inside = raw.length < 200 ? IN_BOX.exec(raw)?.[1]?.trim() : undefined
    if (inside === undefined) {
      said = ''
      return
    }
    if (STOPS.test(inside) && said !== '')
      found({
        type: 'error',
        at: number,
        last: number,
        line: number,
        text: raw,
        error: { name: 'message', module: undefined, message: said, tail: '', frames: [], causes: [] },
        frame: undefined,
        weak: true,
        wrapper: false,
        facts: {},
      })
    else if (inside === '' || LETTERS.test(inside)) closed = true
    else if (said.length < LONGEST) {
      said = closed ? inside : `${said} ${inside}`
      closed = false
    }
  }
}
