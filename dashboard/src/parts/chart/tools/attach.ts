// What can be done with a chart beyond looking at it: fetched once charts are drawn, and put onto each of them.
import type uPlot from 'uplot'
import { Controls } from './controls.tsx'
import { takeGestures } from './gestures.ts'
import { takeKeys } from './keys.ts'
import { drawMarks } from './marks.ts'
import { watchMarks } from './known-marks.ts'
import { addSave, type Table } from './save.ts'
import css from './style.css?inline'
import { showTip } from './tip.ts'

export type Attached = {
  readonly plot: uPlot
  /** The element that holds it. */
  readonly host: HTMLElement
  /** Whose incidents and restarts are marked: `gpu UUID` or `job KEY`; space between several. */
  readonly about: readonly string[]
  /** What is saved as CSV; without it the chart has neither keys nor buttons of its own. */
  readonly table: (() => Table) | undefined
}

// A sheet of its own: what draws the first view has no need of it.
const sheet = new CSSStyleSheet()
sheet.replaceSync(css)
document.adoptedStyleSheets.push(sheet)

export function attach(of: Attached): () => void {
  const stops = [
    drawMarks(of),
    watchMarks(of.about),
    showTip(of),
    takeGestures(of),
    ...(of.table === undefined ? [] : [takeKeys(of), addSave({ ...of, table: of.table })]),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

export { Controls }
