// What an engine reports about a container, in the agent's own types.
import type { ContainerIdentity } from '../../model/identity.ts'
import type { ContainerEvent } from '../../model/event.ts'
import type { ContainerSettings } from '../../model/incident.ts'
import type { EngineEvent, InspectedContainer, ListedContainer } from './engine-schema.ts'
import type { GpuWish } from './gpu-request.ts'
import { settingsOf } from './settings.ts'

export type EngineContainer = {
  readonly identity: ContainerIdentity
  /** OCI runtime: runc, crun, nvidia, runsc. */
  readonly runtime?: string
  readonly state?: string
  readonly pid?: number
  /** Unix seconds, as text. */
  readonly started?: string
  readonly restartCount?: number
  readonly gpuWish?: GpuWish
  readonly settings?: ContainerSettings
  readonly labels?: Readonly<Record<string, string>>
}

type Labels = Readonly<Record<string, string>> | null | undefined

function identify(id: string, rawName: string | null | undefined, image: string | null | undefined, labels: Labels): ContainerIdentity {
  const label = (key: string): string | undefined => {
    const value = labels?.[key]
    return value === '' ? undefined : value
  }
  const composeProject = label('com.docker.compose.project')
  const composeService = label('com.docker.compose.service')
  const namespace = label('io.kubernetes.pod.namespace')
  const pod = label('io.kubernetes.pod.name')
  const plain = rawName?.replace(/^\//, '')
  // Under Kubernetes the engine's own name is made up (`k8s_main_pod_namespace_uid_0`); the pod's author wrote this one.
  const name = label('io.kubernetes.container.name') ?? (plain === undefined || plain === '' ? id.slice(0, 12) : plain)
  return {
    id,
    name,
    ...(image === null || image === undefined || image === '' ? {} : { image }),
    ...(composeProject === undefined ? {} : { composeProject }),
    ...(composeService === undefined ? {} : { composeService }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(pod === undefined ? {} : { pod }),
  }
}

/** Less than an inspection reports: no pid, no restarts, no GPUs. */
export function fromList(listed: ListedContainer): EngineContainer {
  const state = listed.State
  return { identity: identify(listed.Id, listed.Names?.[0], listed.Image, listed.Labels), ...(state === null || state === undefined ? {} : { state }) }
}

function startedSeconds(text: string | null | undefined): string | undefined {
  const ms = Date.parse(text ?? '')
  // 0001-01-01 means never started.
  return Number.isFinite(ms) && ms > 0 ? String(Math.floor(ms / 1000)) : undefined
}

function gpuWish(inspected: InspectedContainer): GpuWish {
  const { HostConfig: host, Config: config } = inspected
  const visible = config?.Env?.find((entry) => entry.startsWith('NVIDIA_VISIBLE_DEVICES='))?.slice('NVIDIA_VISIBLE_DEVICES='.length)
  return {
    requests: (host?.DeviceRequests ?? []).map((request) => ({
      driver: request.Driver ?? '',
      count: request.Count ?? 0,
      ids: request.DeviceIDs ?? [],
      capabilities: (request.Capabilities ?? []).flat(),
    })),
    devicePaths: (host?.Devices ?? []).map((device) => device.PathOnHost ?? '').filter((path) => path !== ''),
    privileged: host?.Privileged ?? false,
    ...(host?.Runtime === null || host?.Runtime === undefined ? {} : { runtime: host.Runtime }),
    ...(visible === undefined ? {} : { visibleDevices: visible }),
  }
}

export function fromInspect(inspected: InspectedContainer): EngineContainer {
  const { State: state, Config: config, HostConfig: host } = inspected
  const labels = config?.Labels
  const started = startedSeconds(state.StartedAt)
  return {
    identity: identify(inspected.Id, inspected.Name, config?.Image, config?.Labels),
    gpuWish: gpuWish(inspected),
    settings: settingsOf(inspected),
    ...(labels === null || labels === undefined ? {} : { labels }),
    // Podman's compatible API says `oci` whatever it runs.
    ...(typeof host?.Runtime === 'string' && host.Runtime !== '' ? { runtime: host.Runtime === 'oci' ? 'podman' : host.Runtime } : {}),
    ...(typeof state.Status === 'string' ? { state: state.Status } : {}),
    // 0 means none.
    ...(typeof state.Pid === 'number' && state.Pid > 0 ? { pid: state.Pid } : {}),
    ...(started === undefined ? {} : { started }),
    ...(typeof inspected.RestartCount === 'number' ? { restartCount: inspected.RestartCount } : {}),
  }
}

type EventName = Pick<ContainerEvent, 'container' | 'container_id' | 'image' | 'compose_project' | 'compose_service' | 'namespace' | 'pod'>
const nameOf = ({ id, name, image, composeProject, composeService, namespace, pod }: ContainerIdentity): EventName => ({
  container: name,
  container_id: id.slice(0, 12),
  ...(image === undefined ? {} : { image }),
  ...(composeProject === undefined ? {} : { compose_project: composeProject }),
  ...(composeService === undefined ? {} : { compose_service: composeService }),
  ...(namespace === undefined ? {} : { namespace }),
  ...(pod === undefined ? {} : { pod }),
})

/** Actions that say nothing about the container's state; `exec_create: …` also holds the command line of every health check. */
const IGNORED = /^(exec_|top$|attach$|detach$|resize$|archive-path$|extract-to-dir$|copy$|export$|commit$|prune$)/

export function toContainerEvent(event: EngineEvent): ContainerEvent | undefined {
  if (IGNORED.test(event.Action) || (event.Type !== undefined && event.Type !== null && event.Type !== 'container')) return undefined
  const attributes = event.Actor.Attributes ?? {}
  const id = event.Actor.ID
  const exit = attributes['exitCode'] ?? (event.Action.startsWith('die') ? attributes['containerExitCode'] : undefined)
  const exitCode = exit === undefined || !/^\d+$/.test(exit) ? undefined : Number(exit)
  const signal = event.Action === 'kill' ? Number(attributes['signal']) : Number.NaN
  return {
    type: 'container',
    t: eventTime(event),
    action: event.Action,
    // The container's labels stand among the attributes.
    ...nameOf(identify(id, attributes['name'], attributes['image'], attributes)),
    ...(exitCode === undefined ? {} : { exit_code: exitCode }),
    ...(Number.isInteger(signal) ? { signal } : {}),
  }
}

/** How a container ended whose end no event reported; undefined while it runs. */
export function endOf({ Id: id, Name: name, Config: config, State: state }: InspectedContainer): ContainerEvent | undefined {
  const t = Date.parse(state.FinishedAt ?? '')
  if (state.Running === true || !(t > 0)) return undefined
  return {
    type: 'container',
    t,
    action: 'die',
    ...nameOf(identify(id, name, config?.Image, config?.Labels)),
    ...(typeof state.ExitCode === 'number' ? { exit_code: state.ExitCode } : {}),
    ...(typeof state.Error === 'string' && state.Error !== '' ? { error: state.Error.slice(0, MAX_ERROR) } : {}),
  }
}
const MAX_ERROR = 300

/** Unix ms. */
export function eventTime(event: EngineEvent): number {
  return typeof event.timeNano === 'number' ? Math.floor(event.timeNano / 1e6) : typeof event.time === 'number' ? event.time * 1000 : Date.now()
}
