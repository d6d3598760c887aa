// Last words with which a program gives up: of a logger, and without one.
import { SUPPOSED } from './prose.ts'

/** A logger's last record: nothing is above CRITICAL, or it says that the program gives up. */
const GIVES_UP =
  /^[^\n]{0,120}?\b(?:CRITICAL|FATAL)\b|\b(?:[Gg]iving up(?! on\b)|[Cc]an(?:not|'t) (?:go on|continue|proceed)|[Uu]nrecoverable|(?:[Tt]raining|[Rr]un|[Jj]ob) (?:was )?aborted|(?:[Aa]bort|[Ee]xit|[Tt]erminat)ing(?=[.!]{0,3}$|[,:;]| (?:now|with|(?:the )?(?:training|run|job|program|process))\b))\b/
/** The same without a logger, as the last words of all. */
const ENDS_SO =
  /\b(?:[Gg]iving up(?! on\b)|[Cc]an(?:not|'t) (?:go on|continue|proceed)|[Uu]nrecoverable|(?:[Tt]raining|[Rr]un|[Jj]ob) (?:was )?aborted|(?:^|[,;:] | - )[Aa]borting(?=[.!]{0,3}$|: | (?:the )?(?:run|training|job|program)\b))(?:\b|$)/
/** It was meant to end. */
const MEANT =
  /improv|early|patience|target|converge|max(?:imum)?\b|limit|finished|complete|\bdone\b|\bif\b|would|enough|by (?:the )?user|no longer|\?|\bpress\b|\bdo(?:n't| not)\b|resum/i
const GOES_ON = /\b[Rr]etry(?:ing)?\b|[Ss]kipp|[Cc]ontinuing|fall(?:s|ing) back|[Ii]gnor/
const LONGEST = 400

export const givesUp = (raw: string, record: string): boolean => GIVES_UP.test(raw) && !GOES_ON.test(record)
export const endsSo = (text: string): boolean => text.length < LONGEST && ENDS_SO.test(text) && !GOES_ON.test(text) && !MEANT.test(text) && !SUPPOSED.test(text)
