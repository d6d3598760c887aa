// Where a program in Julia or Fortran stood when a signal ended it: the line below the signal that names a file of its own.
import type { ReadLine } from '../../traceback/line.ts'
import type { Frame } from '../../traceback/traceback.ts'
import { frameName, isUserFrame } from '../../traceback/user-frame.ts'
import type { Found, SignalSign } from '../evidence.ts'

/** Groups `file` and `line`. Julia; Intel's table of image, address, routine, line, source; gfortran's backtrace. */
const PLACES: readonly RegExp[] = [
  /^in expression starting at (?<file>(?:[A-Za-z]:)?[^\s:]{1,300}\.jl):(?<line>\d{1,6})$/,
  /^\S{1,60} {1,20}[\dA-F]{16} {1,20}\S{1,60} {1,24}(?<line>\d{1,6}) {1,8}(?<file>[\w.-]{1,80}\.[fF](?:\d\d|or)?)$/,
  /^\s{1,8}at (?<file>[^\s:]{1,300}\.[fF](?:\d\d|or)?):(?<line>\d{1,6})$/,
]
const MAY = /\.jl:|\.[fF](?:\d\d|or)?(?:$|:)/
/** Lines below the signal that are looked at. */
const BELOW = 24

export type PlaceReader = {
  readonly add: (line: ReadLine, found: Found) => void
  /** What another reader found in this line. */ readonly signal: (sign: SignalSign) => void
}

export function createPlaceReader(): PlaceReader {
  let ended: SignalSign | undefined
  return {
    signal: (sign) => {
      if (sign.by === 'itself') ended = sign
    },
    add(line, found) {
      const { text, number: at, raw } = line
      if (ended === undefined || !MAY.test(text)) return
      if (at - ended.at > BELOW) ended = undefined
      const place = ended === undefined ? undefined : PLACES.map((form) => form.exec(text.trimEnd())?.groups).find((groups) => groups !== undefined)
      if (place === undefined || ended === undefined) return
      const frame: Frame = { file: place['file'] ?? '', line: Number(place['line']), name: undefined }
      if (!isUserFrame(frame)) return
      found({ ...ended, at, text: raw, facts: { ...ended.facts, frame: frameName(frame) } })
      ended = undefined
    },
  }
}
