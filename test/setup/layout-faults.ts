// What a machine can see of a drawn page without a person's eyes: text cut by its box, sticking out, lying over other text, broken within a word, figures that are
// none, panels without a word. A person looks at the rest.
import type { Page } from 'playwright-core'
import * as z from 'zod'

const found = z.array(z.string())

/** Runs in the page. Text within a box that scrolls may be cut by it, and so may a line that ends in an ellipsis and says the whole in its title. */
const LOOK = `(() => {
  const faults = new Set()
  const SLACK = 1.5
  const wide = document.documentElement.clientWidth
  const nameOf = (each) => each.tagName.toLowerCase() + (each.id ? '#' + each.id : '') + [...each.classList].slice(0, 3).map((one) => '.' + one).join('')
  const say = (what, each, text) => faults.add(what + ': ' + nameOf(each.parentElement ?? each) + ' > ' + nameOf(each) + ': ' + text.trim().replace(/\\s+/g, ' ').slice(0, 70))
  const styles = new Map()
  const styleOf = (each) => styles.get(each) ?? (styles.set(each, getComputedStyle(each)), styles.get(each))
  const scrolls = (value) => value === 'auto' || value === 'scroll'
  const hides = (value) => value === 'hidden' || value === 'clip'
  /** For readers of the screen alone, or below a dialog. */
  const unseen = (each) => {
    for (let at = each; at !== null; at = at.parentElement) {
      const { clipPath, clip, opacity } = styleOf(at)
      if (clipPath.startsWith('inset(50%') || clip.startsWith('rect(0') || opacity === '0') return true
    }
    return false
  }
  const squeezed = (text) => text.trim().replace(/\\s+/g, ' ')
  /** Its title, or its name for readers of the screen, or that of what it is in, has the whole text. */
  const isTold = (each, text) => {
    for (let at = each; at !== null; at = at.parentElement)
      if ([at.title ?? '', at.getAttribute('aria-label') ?? ''].some((one) => squeezed(one).includes(squeezed(text)))) return true
    return false
  }
  const dialog = document.querySelector('dialog[open]')
  const root = dialog ?? document.body
  if (document.documentElement.scrollWidth > wide) faults.add('scrolls sideways by ' + (document.documentElement.scrollWidth - wide) + ' px')
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  const pieces = []
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const each = node.parentElement
    if (node.data.trim() === '' || each === null || each.closest('script, style, svg, option, textarea, template') !== null) continue
    if (!each.checkVisibility({ visibilityProperty: true, opacityProperty: true }) || unseen(each)) continue
    if (/\\b(?:NaN|undefined|Infinity)\\b|\\[object /.test(node.data) && each.closest('pre, code, .log-text') === null) say('no figure', each, node.data)
    const range = document.createRange()
    range.selectNodeContents(node)
    const rects = [...range.getClientRects()].filter(({ width, height }) => width > 1 && height > 1)
    if (rects.length === 0) continue
    let shown = true
    let inside = false
    for (let at = each; at !== null && at !== document.documentElement; at = at.parentElement) {
      const { overflowX, overflowY, textOverflow, webkitLineClamp, position } = styleOf(at)
      if (scrolls(overflowX) || scrolls(overflowY)) {
        inside = true
        const box = at.getBoundingClientRect()
        // What is scrolled out of sight is over nothing.
        if (rects.some(({ left, right, top, bottom }) => left < box.left - 1 || right > box.right + 1 || top < box.top - 1 || bottom > box.bottom + 1)) shown = false
        continue
      }
      if (hides(overflowX) || hides(overflowY)) {
        const box = at.getBoundingClientRect()
        const across = hides(overflowX) && rects.some(({ left, right }) => right > box.right + SLACK || left < box.left - SLACK)
        const down = hides(overflowY) && rects.some(({ top, bottom }) => bottom > box.bottom + 4 || top < box.top - 4)
        if (across || down) {
          shown = false
          const graceful = textOverflow === 'ellipsis' || webkitLineClamp !== 'none'
          if (!inside && !(graceful && isTold(each, node.data))) say(graceful ? 'cut, and nothing says the whole' : 'cut', each, node.data)
          if (graceful) break
        }
      }
      if (position === 'fixed') break
    }
    if (shown && !inside && rects.some(({ left, right }) => right > wide + 1 || left < -1)) say('sticks out', each, node.data)
    if (shown) for (const rect of rects) pieces.push({ each, rect, text: node.data })
    if (rects.length > 1 && each.closest('pre, code, .log-text') === null) {
      for (const { index, 0: word } of node.data.matchAll(/\\p{L}{4,}/gu)) {
        range.setStart(node, index)
        range.setEnd(node, index + word.length)
        if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) say('broken within a word', each, word + ' in ' + node.data)
      }
    }
  }
  pieces.sort((a, b) => a.rect.top - b.rect.top)
  const floats = (each) => each.closest('.u-legend, [popover], .tip') !== null
  for (let i = 0; i < pieces.length; i += 1) {
    const { each, rect, text } = pieces[i]
    for (let j = i + 1; j < pieces.length && pieces[j].rect.top < rect.bottom - 3; j += 1) {
      const other = pieces[j]
      if (other.each === each || floats(each) || floats(other.each)) continue
      const across = Math.min(rect.right, other.rect.right) - Math.max(rect.left, other.rect.left)
      const down = Math.min(rect.bottom, other.rect.bottom) - other.rect.top
      if (across > 2 && down > 5) say('lies over "' + other.text.trim().slice(0, 30) + '"', each, text)
    }
  }
  for (const panel of root.querySelectorAll('section, article, figure, [role="region"], .panel, td, dd')) {
    if (!panel.checkVisibility() || panel.querySelector('canvas, svg, img, input, textarea, meter, progress, button') !== null) continue
    const own = panel.textContent.length - [...panel.querySelectorAll('h1, h2, h3, h4, figcaption, legend')].reduce((sum, { textContent }) => sum + textContent.length, 0)
    const cell = panel.matches('td, dd')
    if (own <= 0 && panel.getBoundingClientRect().height > (cell ? 4 : 40) && (!cell || getComputedStyle(panel, '::before').content === 'none') && panel.children.length === 0) say('empty', panel, panel.outerHTML.slice(0, 60))
  }
  return [...faults]
})()`

export const layoutFaults = async (page: Page): Promise<readonly string[]> => found.parse(await page.evaluate(LOOK))
