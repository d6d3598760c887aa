// Declarations for tests of the simulation: every metric exists, with every label that the simulation gives one.
import type { MetricDef } from '../../../agent/model/metric.ts'

const LABELS = (
  'gpu uuid gi ci name pci_bus_id driver_version cuda_version vbios_version serial minor domain reason type scope direction xid mode mig_uuid hostname kernel os architecture resource kind interface mountpoint device fstype ' +
  'container container_id image compose_project compose_service runtime state by'
).split(' ')

export function createMetricNamed(): (name: string) => MetricDef {
  const known = new Map<string, MetricDef>()
  return (name) => {
    const def: MetricDef = known.get(name) ?? { name, subject: 'agent', kind: 'gauge', unit: '1', help: '', labels: LABELS }
    known.set(name, def)
    return def
  }
}
