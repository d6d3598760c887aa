// The time of many steps becomes that of one: `100 steps took 12.3 s`, `time for 100 iterations: 12.3 s`, `7.3s/100 iters`.

const STEPS = String.raw`(?:(?:train(?:ing)?|optimi[sz](?:er|ation)|gradient) )?(?:steps|iters|iterations|batches|minibatches|updates)`
const TIME = String.raw`(\d{1,7}(?:\.\d{1,9})?) ?(ms|s|secs?|seconds|m|min|mins|minutes)(?![\w/])`
/** Without it there is no such statement: a cheap look at most lines. */
const SIGN = new RegExp(String.raw`\d ${STEPS}\b`)
/** `of 5000 steps`, `40/5000 steps`: what the counter counts to. */
const NO_TOTAL = String.raw`(?<!\bof |\btotal |\bmax |\/ ?|[\d.,])`
const BEFORE = new RegExp(String.raw`(?:(?:last|past|previous) )?${NO_TOTAL}(\d[\d,]{0,8}) ${STEPS}\)?(?: in| took| takes?|:| =)+ ?${TIME}`, 'g')
const BEHIND = new RegExp(String.raw`(?<![\w.])${TIME.replace('(?![\\w/])', '')} ?(?:\/|per|for|over) ?(?:the )?(?:last )?(\d[\d,]{0,8}) ${STEPS}\b`, 'g')

const each = (time: string, count: string, all: string, unit: string): string => {
  const steps = Number(count.replaceAll(',', ''))
  return steps > 1 ? `step time: ${Number((Number(time) / steps).toPrecision(9))} ${unit}` : all
}

export const ofOneStep = (text: string): string =>
  SIGN.test(text)
    ? text
        .replace(BEFORE, (all: string, count: string, time: string, unit: string) => each(time, count, all, unit))
        .replace(BEHIND, (all: string, time: string, unit: string, count: string) => each(time, count, all, unit))
    : text
