// What must hold between keys.
import { nearest } from '../lib/nearest.ts'
import type { Problem } from './problem.ts'
import type { Config } from './schema.ts'

/** Only this machine can reach it. An empty address means all addresses. */
export function isLoopback(listen: string): boolean {
  const address = listen
    .slice(0, listen.lastIndexOf(':'))
    .replace(/^\[|\]$/g, '')
    .toLowerCase()
  return address === 'localhost' || address === '::1' || /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(address)
}

export type RuleContext = {
  /** Where a value, or a part of it, was set. */
  readonly where: (key: string, part?: readonly (string | number)[]) => string
  /** Some notifiers are left out of the configuration, as they are wrong. */
  readonly notifiersWrong: boolean
}

export function ruleProblems(config: Config, { where, notifiersWrong }: RuleContext): readonly Problem[] {
  const problems: Problem[] = []
  const { listen, token, insecure } = config.http
  if (!isLoopback(listen) && token === '' && !insecure)
    problems.push({
      where: where('http.listen'),
      text: `http.listen: ${listen} is open to other hosts: expected http.token with it, or http.insecure: true; came neither`,
    })
  const names = config.notifiers.map(({ name }) => name)
  for (const [at, { to }] of notifiersWrong ? [] : config.routes.entries()) {
    for (const name of new Set(to)) {
      if (names.includes(name)) continue
      const near = nearest(name, names)
      const hint = near === undefined ? 'there are none' : `the nearest one is ${near}`
      problems.push({ where: where('routes', [at, 'to']), text: `routes[${at}].to: unknown notifier ${JSON.stringify(name)}; ${hint}` })
    }
  }
  return problems
}

/** What is allowed, but hardly meant. */
export function ruleWarnings({ notifiers, routes }: Config, { where }: RuleContext): readonly Problem[] {
  if (routes.length === 0) return []
  return notifiers.flatMap(({ name }, at) =>
    routes.some(({ to }) => to.includes(name))
      ? []
      : [{ where: where('notifiers', [at, 'name']), text: `notifiers[${at}]: no route names ${name}, so it is told nothing` }],
  )
}
