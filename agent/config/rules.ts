// What must hold between keys.
import { nearest } from '../lib/nearest.ts'
import type { Problem } from './problem.ts'
import { isLoopback, remoteUrl } from './listen.ts'
import { isIncidentRoute, isWasteRoute } from '../model/alert-settings.ts'
import type { Config } from './schema.ts'

export type RuleContext = {
  /** Where a value, or a part of it, was set. */
  readonly where: (key: string, part?: readonly (string | number)[]) => string
  /** Some notifiers are left out of the configuration, as they are wrong. */
  readonly notifiersWrong: boolean
  /** `alerts.base_url` is the user's own, not made of `http.listen`. */
  readonly baseUrlSet: boolean
}

export function ruleProblems(config: Config, { where, notifiersWrong }: RuleContext): readonly Problem[] {
  const problems: Problem[] = []
  const { listen, token, insecure } = config.http
  if (!isLoopback(listen) && token === '' && !insecure)
    problems.push({
      where: where('http.listen'),
      text: `http.listen: ${listen} is open to other hosts: set http.token, or http.insecure: true`,
    })
  const names = config.notifiers.map(({ name }) => name)
  for (const [at, { to, match }] of notifiersWrong ? [] : config.routes.entries()) {
    for (const name of new Set(to)) {
      const notifier = config.notifiers.find((one) => one.name === name)
      if (notifier?.takesRuns === false && !isIncidentRoute({ match }))
        problems.push({
          where: where('routes', [at, 'to']),
          text: `routes[${at}].to: ${name} is of type ${notifier.type}, which takes incidents only; a route with ${isWasteRoute({ match }) ? 'waste is about summaries' : 'outcome is about runs that ended'}: name a notifier of another type`,
        })
      if (notifier !== undefined) continue
      const near = nearest(name, names)
      const hint = near === undefined ? 'there are none' : `the nearest one is ${near}`
      problems.push({ where: where('routes', [at, 'to']), text: `routes[${at}].to: unknown notifier ${JSON.stringify(name)}; ${hint}` })
    }
  }
  return problems
}

/** Messages are read elsewhere: without a base_url their links lead nowhere, or where the agent guesses. */
function baseUrlWarnings({ notifiers, host_name, http: { listen } }: Config, { where, baseUrlSet }: RuleContext): readonly Problem[] {
  if (notifiers.length === 0 || baseUrlSet) return []
  const found = remoteUrl(listen, host_name)
  // One address of its own is what people were meant to use.
  if (found?.guessed === false) return []
  const now =
    found === undefined ? 'messages have no links: they say how to reach the dashboard over ssh' : `links in messages begin with ${found.url}, a guess`
  const example = found?.url ?? `https://${/^[\w.-]+$/.test(host_name) ? host_name : 'gpu-01'}.example.com`
  return [
    {
      where: where('notifiers'),
      text: `alerts.base_url is not set, so ${now}. Set it to the URL where the readers of messages open the dashboard, such as ${example}`,
    },
  ]
}

/** What is allowed, but hardly meant. */
export function ruleWarnings(config: Config, context: RuleContext): readonly Problem[] {
  return [...unroutedWarnings(config, context), ...baseUrlWarnings(config, context)]
}

function unroutedWarnings({ notifiers, routes }: Config, { where }: RuleContext): readonly Problem[] {
  // Without a route for incidents all notifiers get them.
  if (!routes.some(isIncidentRoute)) return []
  return notifiers.flatMap(({ name }, at) =>
    routes.some(({ to }) => to.includes(name))
      ? []
      : [{ where: where('notifiers', [at, 'name']), text: `notifiers[${at}]: no route names ${name}, so it gets no notifications` }],
  )
}
