// From an engine's inspection to the settings that matter to a fault: limits, shared memory, GPUs, a few variables without their secrets.
import { relevantEnv } from '../../lib/redact.ts'
import type { ContainerSettings } from '../../model/incident.ts'
import type { InspectedContainer } from './engine-schema.ts'

function gpuRequest(host: NonNullable<InspectedContainer['HostConfig']>): string | undefined {
  const wishes = (host.DeviceRequests ?? []).map(({ Count: count, DeviceIDs: ids }) =>
    ids !== null && ids !== undefined && ids.length > 0 ? `device=${ids.join(',')}` : count === -1 ? 'all' : `count=${count ?? 0}`,
  )
  return wishes.length === 0 ? undefined : wishes.join(' ')
}

/** What the engine does not report, or reports as unset, is left out. */
export function settingsOf({ Config: config, HostConfig: host }: InspectedContainer): ContainerSettings {
  const env = relevantEnv(config?.Env ?? [])
  const request = host === null || host === undefined ? undefined : gpuRequest(host)
  const known = (value: number | null | undefined): value is number => typeof value === 'number' && value > 0
  return {
    // 0 means no limit.
    ...(known(host?.Memory) ? { memory_limit_bytes: host.Memory } : {}),
    ...(known(host?.ShmSize) ? { shm_size_bytes: host.ShmSize } : {}),
    ...(typeof host?.IpcMode === 'string' && host.IpcMode !== '' ? { ipc_mode: host.IpcMode } : {}),
    ...(typeof host?.Runtime === 'string' && host.Runtime !== '' ? { runtime: host.Runtime } : {}),
    ...(host?.Privileged === true ? { privileged: true } : {}),
    ...(request === undefined ? {} : { gpu_request: request }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
  }
}
