// axe-core in a page of a real browser: what it holds against the page that is open.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import * as z from 'zod'

/** Runs beside the page as the browser's own tools do, so that the policy against foreign code stays in force. */
const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const GRAVE = ['serious', 'critical']
const found = z.array(
  z.object({ id: z.string(), impact: z.nullable(z.string()), nodes: z.array(z.object({ html: z.string(), any: z.array(z.object({ message: z.string() })) })) }),
)

export const loadAxe = async (page: Page): Promise<unknown> => page.evaluate(SOURCE)

/** The rules whose answer depends on the width of the window: names, roles and headings are the same at any. */
export const LAYOUT_RULES = ['color-contrast', 'target-size'] as const

/** What axe holds against the page as it is, one line each. `only`: by these rules. */
export async function faults(page: Page, only?: readonly string[]): Promise<readonly string[]> {
  const which = only === undefined ? `rules: { 'target-size': { enabled: true } }` : `runOnly: ${JSON.stringify(only)}`
  const answer: unknown = await page.evaluate(`axe.run(document, { resultTypes: ['violations'], ${which} }).then(({ violations }) => violations)`)
  return found
    .parse(answer)
    .filter(({ impact }) => GRAVE.includes(impact ?? ''))
    .flatMap(({ id, nodes }) => nodes.map(({ html, any }) => `${id}: ${html.slice(0, 160)}: ${any.map(({ message }) => message).join('; ')}`))
}
