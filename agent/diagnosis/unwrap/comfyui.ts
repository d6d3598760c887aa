// ComfyUI's error report is Markdown: what was raised stands in a list, the frames in a block of code below. As Python would have printed it, each line in its place.

const TYPE = /^[-*] \*\*Exception Type:\*\* ([A-Za-z_][\w.]{0,80})\s*$/
const MESSAGE = /^[-*] \*\*Exception Message:\*\* ?(.{0,2000})$/
const STACK = /^#{1,4} Stack Trace\s*$/
const FENCE = /^`{3,}\w{0,10}\s*$/
const FRAME = /^\s{0,8}File "/
const MOST_FRAMES = 400
/** Below the frames: headings, and a log of what was before. What says which versions and devices there are is kept. */
const HEADING = /^#{1,4} /
const SURROUNDINGS = /version|[Dd]evice|VRAM|RAM\b|^[-*] \*\*|Launch|argv/

/** Undefined where there is no such report. */
export function comfyReport(lines: readonly string[]): readonly string[] | undefined {
  let plain: string[] | undefined
  for (const [at, line] of lines.entries()) {
    const type = TYPE.exec(line)?.[1]
    const message = MESSAGE.exec(lines[at + 1] ?? '')?.[1]
    if (type === undefined || message === undefined) continue
    plain ??= [...lines]
    const raised = `${type}: ${message.trim()}`
    const stack = lines.findIndex((one, number) => number > at && number < at + 40 && STACK.test(one))
    const first = stack < 0 ? -1 : lines.findIndex((one, number) => number > stack && number < stack + 4 && FRAME.test(one))
    const end = first < 0 ? -1 : lines.findIndex((one, number) => number > first && number < first + MOST_FRAMES && FENCE.test(one))
    if (end < 0) {
      plain[at + 1] = raised
      continue
    }
    plain[at + 1] = ''
    plain[first - 1] = 'Traceback (most recent call last):'
    plain[end] = raised
    for (let below = end + 1; below < lines.length; below++) {
      const under = lines[below] ?? ''
      if (HEADING.test(under) || !SURROUNDINGS.test(under)) plain[below] = ''
    }
  }
  return plain
}
