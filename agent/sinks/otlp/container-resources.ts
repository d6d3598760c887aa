// Containers as resources of their own: by the conventions what is measured of a container belongs to the entity `container`, whose attributes are on the
// resource, beside those of its host, and not on each point. `service.*` is the agent's and not the container's.
import { resourceFromAttributes } from '@opentelemetry/resources'
import type { Labels, Series } from '../../model/series.ts'
import { BY_LABEL, type Attributes } from './attributes.ts'
import type { Resource } from './resource.ts'

/** Who a container is. `container_id` stays on the points too: stores that keep nothing of a resource would take two containers for one. */
export const IDENTITY: readonly string[] = ['container', 'container_id', 'image', 'runtime', 'namespace', 'pod']

/** The container that a series measures; undefined where it measures something else, such as a process in it. */
export const containerOf = ({ metric, labels }: Series): string | undefined =>
  metric.subject === 'container' && labels['container_id'] !== undefined && labels['container_id'] !== '' ? labels['container_id'] : undefined

/** What stays on a point of a container's resource. */
export const withoutIdentity = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).filter(([label]) => label === 'container_id' || !IDENTITY.includes(label)))

/** `labels`: of any of its series; not all of them say the same of it. */
export function containerResource(agent: Resource, labels: Iterable<Labels>): Resource {
  const attributes: Attributes = {}
  for (const known of labels)
    for (const label of IDENTITY) {
      const value = known[label]
      if (value !== undefined && value !== '') BY_LABEL[label]?.put(attributes, value)
    }
  const shared = Object.entries(agent.attributes).filter(([name]) => !name.startsWith('service.'))
  return resourceFromAttributes({ ...Object.fromEntries(shared), ...attributes }, agent.schemaUrl === undefined ? {} : { schemaUrl: agent.schemaUrl })
}
