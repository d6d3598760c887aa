// What the agent knows of a container and the host when it gives advice: image, pod, settings, driver.
import type { ContainerSettings } from '../../model/incident.ts'
import type { Knowledge } from '../situation/knowledge.ts'
import type { Witness } from './witness.ts'

export type KnowledgeOptions = {
  readonly witness: Pick<Witness, 'container' | 'containerNamed' | 'driver'>
  readonly settingsOf: (containerId: string) => ContainerSettings | undefined
}
type Origin = { readonly container?: string; readonly container_id?: string }
export type KnowledgeOf = (origin: Origin) => Knowledge

export function createKnowledge({ witness, settingsOf }: KnowledgeOptions): KnowledgeOf {
  return ({ container: name, container_id: id }) => {
    const found = id === undefined ? (name === undefined ? undefined : witness.containerNamed(name)) : witness.container(id)
    const container = found?.name ?? name
    const env = found === undefined ? undefined : settingsOf(found.id)?.env
    const driver = witness.driver()
    return {
      ...(container === undefined ? {} : { container }),
      ...(found?.image === undefined ? {} : { image: found.image }),
      ...(found?.pod === undefined ? {} : { pod: found.pod }),
      ...(found?.namespace === undefined ? {} : { namespace: found.namespace }),
      ...(env === undefined ? {} : { env }),
      ...(driver === undefined ? {} : { driver: driver.version }),
      ...(driver?.cuda === undefined ? {} : { driverCuda: driver.cuda }),
    }
  }
}
