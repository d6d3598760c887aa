// What pytest prints of a failed test before the place where it ended: the calls that led there, and the exception's own words.
import type { Frame } from '../../traceback/traceback.ts'
import { isUserFrame } from '../../traceback/user-frame.ts'

/** `tests/test_grid.py:20: `, a call; the last place of all has the name of the exception behind it. */
const CALL = /^(?<file>[\w./-]{1,200}\.py):(?<line>\d{1,6}): ?$/
/** `E   ValueError: no cells`. */
const SAID = /^E {1,12}(?:[\w.]{1,100}\.)?(?<name>[A-Z]\w{2,80}): (?<message>.{1,400})$/
/** `____ test_grid ____`. */
const TEST = /^_{3,} .{1,120} _{3,}$/

export type Pytest = {
  readonly add: (text: string) => void
  /** `place`: where the exception `name` was raised. */
  readonly said: (place: Frame | undefined, name: string | undefined) => { readonly frame: Frame | undefined; readonly message: string | undefined }
}

export function createPytest(): Pytest {
  let call: Frame | undefined
  let last: { readonly name: string; readonly message: string } | undefined
  return {
    add(text) {
      if (text.startsWith('E ')) {
        const { name, message } = SAID.exec(text)?.groups ?? {}
        if (name !== undefined && message !== undefined) last = { name, message }
        return
      }
      if (text.startsWith('___') && TEST.test(text)) call = last = undefined
      const { file, line } = (text.includes('.py:') ? CALL.exec(text)?.groups : undefined) ?? {}
      if (file === undefined) return
      const frame: Frame = { file, line: Number(line), name: undefined }
      if (isUserFrame(frame)) call = frame
    },
    said: (place, name) => ({
      frame: place !== undefined && isUserFrame(place) ? place : (call ?? place),
      message: last !== undefined && last.name === name ? last.message : undefined,
    }),
  }
}
