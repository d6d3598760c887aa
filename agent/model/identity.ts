// Who a process is and where it runs.

export type ContainerIdentity = {
  /** Full 64-hex id where known. */
  readonly id: string
  /** The engine's name, or the first 12 hex of the id where no engine reports a name. */
  readonly name: string
  readonly image?: string
  readonly composeProject?: string
  readonly composeService?: string
  readonly namespace?: string
  readonly pod?: string
}

export type ProcessIdentity = {
  readonly pid: number
  /** Field 22 of /proc/PID/stat, clock ticks since boot; with the pid it names one process for ever. */
  readonly startTicks: number
  /** /proc/PID/comm. */
  readonly name: string
  /** The pid inside the innermost pid namespace, where it differs. */
  readonly innerPid?: number
  readonly uid?: number
  readonly container?: ContainerIdentity
  readonly slurmJob?: string
  /** systemd unit or session, for processes outside containers. */
  readonly unit?: string
}

/** Answers who a host pid is; undefined when it has gone or cannot be seen. Cheap enough for every tick. */
export type IdentifyProcess = (pid: number) => ProcessIdentity | undefined
