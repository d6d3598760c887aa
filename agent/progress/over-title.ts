// A bar without a title, below a line that says what it is for: `computing flows for labels`, then `12%|█▏ | 64/540 [`.

import { phaseOf } from './phases.ts'

/** Work on data, which nobody would call the training that follows. */
const WORK =
  /^\W{0,6}(?:(?:DEBUG|INFO)\W{1,12})?(?:comput|calculat|extract|(?:re-?)?tokeni[sz]|pre-?process|encod|download|convert|cach|index|scann|pars|resiz|resampl|normali[sz]|filter|collect|quanti[sz])ing\b(?: \d{1,6} [a-z])?[^\d:=|]{0,60}$/i
/** `Starting preprocess with 12 processes...` */
const STARTS =
  /^\W{0,6}(?:starting|running|begin(?:ning)?)\s+(?:the\s+)?(?:data\s+)?(?:pre-?process(?:ing)?|(?:\w{1,20}\s)?extraction|tokeni[sz]ation|conversion|resampling|downloads?)\b(?!.{0,80}\btrain)[^=|]{0,60}$/i
/** A bar with a title of its own, which is no training's either: `Loading weights: 100%|█████| 213/213`. */
const TITLED = /^\s*([A-Za-z][^|%]{2,60}):\s{1,3}\d{1,3}(?:\.\d+)?%\s?\|/
const isAside = (text: string): boolean => {
  const own = TITLED.exec(text)?.[1]
  return own !== undefined && phaseOf(own) !== undefined
}
const UNTITLED = /^\s*(\d{1,3})(?:\.\d+)?%\s?\|/

/** Gives the text of an untitled bar its title. */
export function createOverTitle(): (text: string) => string {
  let title = ''
  let percent = 0
  return (text) => {
    const found = title === '' ? null : UNTITLED.exec(text)
    if (found !== null) {
      const now = Number(found[1])
      // The count starts over: another bar, without a title.
      if (now < percent) title = ''
      percent = now
      return title === '' ? text : `${title}: ${text}`
    }
    if (text.trim() === '' || (title !== '' && isAside(text))) return text
    title = WORK.test(text.trimEnd()) || STARTS.test(text.trimEnd()) ? text.trim().replace(/[\s.…]+$/, '') : ''
    percent = 0
    return text
  }
}
