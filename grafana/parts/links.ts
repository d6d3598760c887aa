// Ways from one dashboard to another that keep data source, host and time.
import { DashboardLinkType, type DashboardLink } from '@grafana/grafana-foundation-sdk/dashboard'

export const TAG = 'warpwatch'
export type Link = { readonly title: string; readonly url: string; readonly targetBlank?: boolean }

const KEPT = 'var-datasource=${datasource}&${__url_time_range}'
const HERE = '${job:queryparam}&${instance:queryparam}'
/** In tables a value comes from the row, in charts from the series. */
const field = { row: (label: string) => `\${__data.fields.${label}}`, series: (label: string) => `\${__field.labels.${label}}` }
type From = keyof typeof field

/** To one host of a list of many. */
export const toHost = (from: From = 'row'): Link => ({
  title: 'This host',
  url: `/d/warpwatch-host?var-job=${field[from]('job')}&var-instance=${field[from]('instance')}&${KEPT}`,
})
/** To one card of the host that is shown. */
export const toGpu = (from: From = 'row'): Link => ({ title: 'This GPU', url: `/d/warpwatch-gpu?${HERE}&var-gpu=${field[from]('uuid')}&${KEPT}` })
export const toContainer = (from: From = 'row'): Link => ({
  title: 'This container',
  url: `/d/warpwatch-container?${HERE}&var-container=${field[from]('container')}&${KEPT}`,
})
export const toAllocator = (from: From = 'row'): Link => ({
  title: "Its allocator's memory",
  url: `/d/warpwatch-allocator?${HERE}&var-gpu=${field[from]('uuid')}&var-container=${field[from]('container')}&${KEPT}`,
})
/** The agent serves its runbooks itself; that works where its port can be reached by the address that is scraped. */
export const toRunbook: Link = { title: 'Runbook', url: `http://${field.row('instance')}/runbooks/${field.row('kind')}`, targetBlank: true }

/** What Grafana shows at the top of each dashboard. */
export const toOthers: DashboardLink = {
  title: 'Warpwatch',
  type: DashboardLinkType.Dashboards,
  icon: 'apps',
  tooltip: 'The other dashboards, with what is chosen here',
  tags: [TAG],
  asDropdown: true,
  targetBlank: false,
  includeVars: true,
  keepTime: true,
}
export const toAgent: DashboardLink = {
  title: "The agent's own page",
  type: DashboardLinkType.Link,
  icon: 'external link',
  tooltip: 'Incidents with their verdicts and evidence, by the second; works where your browser reaches the address that is scraped',
  url: 'http://${instance}/',
  tags: [],
  asDropdown: false,
  targetBlank: true,
  includeVars: false,
  keepTime: false,
}
