// What must hold between keys.
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

export function ruleProblems(config: Config, origins: ReadonlyMap<string, string>): readonly Problem[] {
  const problems: Problem[] = []
  const { listen, token, insecure } = config.http
  if (!isLoopback(listen) && token === '' && !insecure) {
    const where = origins.get('http.listen') ?? 'http.listen'
    problems.push({ where, text: `http.listen: ${listen} is open to other hosts: expected http.token with it, or http.insecure: true; came neither` })
  }
  return problems
}
