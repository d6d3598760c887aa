// The other hosts that this one shows: asked while someone looks, each page's figures passed on.
import type { Config } from '../config/schema.ts'
import { createHangEvidence } from '../hosts/hang-evidence.ts'
import type { HangEvidence } from '../model/hosts.ts'
import { createRelay, type Relay } from '../hosts/relay.ts'
import { summaryOf } from '../hosts/summary.ts'
import { createHostWatch, type HostWatch } from '../hosts/watch.ts'
import type { HostsApi } from '../http/api/hosts.ts'
import { proxyRules } from '../lib/proxy.ts'
import { VERSION } from '../lib/version.ts'
import type { IncidentSummary } from '../model/incident.ts'
import type { Run } from '../model/job.ts'
import type { Present } from './present.ts'

export type Hosts = {
  readonly api: HostsApi
  readonly relay: Relay
  readonly link: HostWatch['link']
  readonly hangEvidence: HangEvidence
  readonly close: () => void
}
export type HostsOptions = {
  readonly config: Config
  readonly present: Present
  readonly firing: () => readonly IncidentSummary[]
  readonly jobs: () => readonly Run[]
}

/** A page of history is the largest that a dashboard asks for. */
const LIMITS = { timeoutMs: 20_000, maxBytes: 16 * 1024 * 1024 }

export function createHosts({ config, present, firing, jobs }: HostsOptions): Hosts {
  const { host_name: host, simulate } = config
  const watch = createHostWatch({ hosts: config.hosts, proxyFor: proxyRules(config.http_client) })
  const relay = createRelay()
  const hangEvidence = createHangEvidence(watch.links)
  const summary = () => {
    const running = jobs().filter(({ ended_at: ended }) => ended === undefined).length
    return summaryOf({ host, version: VERSION, simulated: simulate.scenario !== 'off', gpus: present.views.rows().gpus, firing: firing(), running }, Date.now())
  }
  return {
    api: {
      summary,
      entries: () => [{ name: host, self: true, summary: summary(), seen_at: Date.now() }, ...watch.entries()],
      get: async (name, path) => watch.link(name)?.get(path, LIMITS),
      hangEvidence: hangEvidence.of,
    },
    relay,
    hangEvidence,
    link: watch.link,
    close() {
      relay.close()
      watch.close()
    },
  }
}
