// ComfyUI writes its error report as Markdown: a list names the exception, and a code block holds the frames. It is rewritten as the traceback that Python would
// have printed; each line keeps its number.

const TYPE = /^[-*] \*\*Exception Type:\*\* ([A-Za-z_][\w.]{0,80})\s*$/
const MESSAGE = /^[-*] \*\*Exception Message:\*\* ?(.{0,2000})$/
const STACK = /^#{1,4} Stack Trace\s*$/
const FENCE = /^`{3,}\w{0,10}\s*$/
const FRAME = /^\s{0,8}File "/
/** A message may have several lines, and a blank line and the fence are before the frames. */
const [TO_STACK, TO_FRAMES, MOST_FRAMES] = [40, 4, 400]
const SECTION = /^#{1,4} (?:System Information|Devices|Logs|Attached Workflow|Additional Context)\b/
const ITEM = /^[-*] /
/** Versions and devices, which the advice depends on. */
const SURROUNDINGS = /version|[Dd]evice|VRAM|RAM\b|^[-*] \*\*|Launch|argv/

function next(lines: readonly string[], from: number, most: number, pattern: RegExp): number {
  for (let at = from; at < Math.min(from + most, lines.length); at++) if (pattern.test(lines[at] ?? '')) return at
  return -1
}

/** Below the frames stand the report's other sections, with a log of what was before. Returns the first line behind them. */
function clearSections(lines: readonly string[], from: number, plain: string[]): number {
  let at = from
  for (let inCode = false; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (FENCE.test(line)) inCode = !inCode
    else if (!inCode && line.trim() !== '' && !SECTION.test(line) && !ITEM.test(line)) break
    if (!SURROUNDINGS.test(line) || SECTION.test(line)) plain[at] = ''
  }
  return at
}

/** Undefined where there is no such report. */
export function comfyReport(lines: readonly string[]): readonly string[] | undefined {
  let plain: string[] | undefined
  for (let at = 0; at < lines.length; at++) {
    const type = TYPE.exec(lines[at] ?? '')?.[1]
    const message = MESSAGE.exec(lines[at + 1] ?? '')?.[1]
    if (type === undefined || message === undefined) continue
    plain ??= [...lines]
    const raised = `${type}: ${message.trim()}`
    const stack = next(lines, at + 2, TO_STACK, STACK)
    const first = stack < 0 ? -1 : next(lines, stack + 1, TO_FRAMES, FRAME)
    const end = first < 0 ? -1 : next(lines, first, MOST_FRAMES, FENCE)
    if (end < 0) {
      plain[at + 1] = raised
      continue
    }
    plain[at + 1] = ''
    plain[first - 1] = 'Traceback (most recent call last):'
    plain[end] = raised
    at = clearSections(lines, end + 1, plain) - 1
  }
  return plain
}
