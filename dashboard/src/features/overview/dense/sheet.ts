// The styles of the small cards and of the table, which come with their code: the first view of a desk needs neither.
import css from './dense.css?inline'

let sheet: CSSStyleSheet | undefined

export function styleDense(): void {
  if (sheet !== undefined) return
  sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  document.adoptedStyleSheets.push(sheet)
}
