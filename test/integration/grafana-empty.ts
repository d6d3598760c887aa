// Queries of the dashboards that have nothing to show in the test's fleet, each with its reason. Any other one without data is a mistake.
const NO_ENGINE = 'only containers of a real engine tell it; the simulated ones have none'

/** By `file: panel, refId`. */
export const EMPTY_BECAUSE: Readonly<Record<string, string>> = {
  'agent.json: Samplers, C': 'counts events on which a part of the agent failed, which no test may provoke from outside',
  'container.json: Cores, B': NO_ENGINE,
  'container.json: GPUs asked for, and used, C': NO_ENGINE,
  'container.json: Waiting for resources, A': NO_ENGINE,
}
