// What the agent knows of the origin of a log beside its text: container, pod, settings, driver. The readers of a text read it as further lines.

export type Knowledge = {
  readonly container?: string
  readonly image?: string
  readonly pod?: string
  readonly namespace?: string
  /** Variables that are set in the container. */
  readonly env?: Readonly<Record<string, string>>
  /** Versions of NVIDIA's driver and of the newest CUDA that it runs. */
  readonly driver?: string
  readonly driverCuda?: string
}

/** In the words by which programs, versions and settings are recognised. A container without a pod is run by Docker or an engine with its commands. */
export function knownText({ container, image, pod, env = {}, driver, driverCuda }: Knowledge): string {
  return [
    pod !== undefined ? 'kubernetes' : container !== undefined ? 'docker' : '',
    image === undefined ? '' : `Image: ${image}`,
    driver === undefined ? '' : `NVIDIA Driver Version: ${driver}${driverCuda === undefined ? '' : ` CUDA Version: ${driverCuda}`}`,
    ...Object.entries(env).map(([name, value]) => `${name}=${value}`),
  ]
    .filter((line) => line !== '')
    .join('\n')
}
