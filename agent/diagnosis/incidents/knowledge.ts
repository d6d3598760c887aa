// What the agent knows of a container and the host when it gives advice: image, pod, settings, driver.
import type { ContainerSettings } from '../../model/incident.ts'
import type { Knowledge } from '../situation/knowledge.ts'
import type { HostIdentityIndex } from './host-identity-index.ts'

export type KnowledgeOptions = {
  readonly identities: Pick<HostIdentityIndex, 'container' | 'containerNamed' | 'driver'>
  readonly settingsOf: (containerId: string) => ContainerSettings | undefined
}
type Origin = { readonly container?: string; readonly container_id?: string }
export type KnowledgeOf = (origin: Origin) => Knowledge

export function createKnowledge({ identities, settingsOf }: KnowledgeOptions): KnowledgeOf {
  return ({ container: name, container_id: id }) => {
    const found = id === undefined ? (name === undefined ? undefined : identities.containerNamed(name)) : identities.container(id)
    const container = found?.name ?? name
    const env = found === undefined ? undefined : settingsOf(found.id)?.env
    const driver = identities.driver()
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
