// Which series a dashboard is about: the data source, label matchers, and the variables that fill them.
import { DatasourceVariableBuilder, QueryVariableBuilder, VariableRefresh, VariableSort, type VariableModel } from '@grafana/grafana-foundation-sdk/dashboard'
import { agentSourceUp } from '../../agent/metrics/agent-sources.ts'
import { containerInfo } from '../../agent/metrics/container.ts'
import { gpuInfo } from '../../agent/metrics/gpu-identity.ts'
import { incidentActive, incidentsTotal } from '../../agent/metrics/incident.ts'
import { processGpuMemoryBytes } from '../../agent/metrics/process.ts'

/** Prometheus, VictoriaMetrics, Mimir: all are Grafana's data source of type prometheus. */
export const DATASOURCE = { type: 'prometheus', uid: '${datasource}' }

/** Matchers of all series of the chosen jobs, hosts, GPU and containers. */
export const JOB = 'job=~"$job"'
export const HOST = `${JOB},instance=~"$instance"`
export const GPU = `${HOST},uuid=~"$gpu"`
export const CONTAINER = `${HOST},container=~"$container"`

type Built = { readonly build: () => VariableModel }
type Choice = { readonly name: string; readonly label: string; readonly help: string; readonly query: string; readonly several: boolean; readonly all?: string }

function choice({ name, label, help, query, several, all }: Choice): QueryVariableBuilder {
  const built = new QueryVariableBuilder(name)
    .label(label)
    .description(help)
    .datasource(DATASOURCE)
    .query({ query, refId: 'PrometheusVariableQueryEditor-VariableQuery' })
    .definition(query)
    .sort(VariableSort.NaturalAsc)
    // What was there within the shown time can be chosen, though it may be gone now.
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .multi(several)
    .includeAll(all !== undefined)
  return all === undefined ? built : built.allValue(all).current({ selected: true, text: ['All'], value: ['$__all'] })
}

export const datasource: Built = new DatasourceVariableBuilder('datasource')
  .label('Data source')
  .description('Prometheus, or whatever speaks its language: VictoriaMetrics, Mimir, Thanos.')
  .type('prometheus')

export const job: Built = choice({
  name: 'job',
  label: 'Job',
  help: 'The scrape job of the agents.',
  query: `label_values(${agentSourceUp.name}, job)`,
  several: true,
  all: '.+',
})

const hosts = (several: boolean): Built =>
  choice({
    name: 'instance',
    label: 'Host',
    help: 'The address at which an agent is scraped.',
    query: `label_values(${agentSourceUp.name}{${JOB}}, instance)`,
    several,
    ...(several ? { all: '.+' } : {}),
  })
export const oneHost: Built = hosts(false)
export const manyHosts: Built = hosts(true)

/** Chosen by index and name, passed on as UUID: an index may be another card after the next boot. */
const cards = (all: boolean): Built =>
  choice({
    name: 'gpu',
    label: 'GPU',
    help: 'A card by its index and name; a lost one stays here while the shown time holds a reading of it.',
    query: `query_result(group by (text, uuid) (label_join(last_over_time(${gpuInfo.name}{${HOST}}[$__range]), "text", " ", "gpu", "name")))`,
    several: all,
    ...(all ? { all: '.+' } : {}),
  }).regex('/text="(?<text>[^"]+)".*uuid="(?<value>[^"]+)"/')
export const oneGpu: Built = cards(false)
export const manyGpus: Built = cards(true)

/** All means processes outside of containers too, whose series have no such label. */
export const containers: Built = choice({
  name: 'container',
  label: 'Container',
  help: 'Containers that held GPU memory or ran beside; all: programs outside of containers too, where they have figures.',
  query: `label_values({__name__=~"${containerInfo.name}|${processGpuMemoryBytes.name}",${HOST}}, container)`,
  several: true,
  all: '.*',
})

export const kinds: Built = choice({
  name: 'kind',
  label: 'Kind',
  help: 'Kinds of incidents.',
  query: `label_values(${incidentsTotal.name}{${HOST}}, kind)`,
  several: true,
  all: '.+',
})
export const severities: Built = choice({
  name: 'severity',
  label: 'Severity',
  help: 'Severities that occurred.',
  query: `label_values(${incidentActive.name}{${HOST}}, severity)`,
  several: true,
  all: '.+',
})
