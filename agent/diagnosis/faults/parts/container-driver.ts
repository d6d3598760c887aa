// NVIDIA's images compare the driver of the host with the one that they were built for when they start (their entrypoint script).
import { COMPUTE_CAP } from '../remedies/gpu.ts'
import type { Rule, Seen } from './rules.ts'
import { around } from './window.ts'

/** Of the two lines; a host without a driver leaves the second version empty. */
const GREETING =
  /container was built for NVIDIA Driver Release ([\d.]{3,12}) or later, but\s{1,20}(?:\S{1,40} {0,4}\| {1,12})?version ([\d.]{3,14}) was detected/

export const builtForDriver: Rule = {
  pattern: /container was built for NVIDIA Driver Release ([\d.]{3,12}) or later/,
  severity: 'critical',
  title: 'Driver too old for this image',
  verdict: ({ text, at, match }) => {
    const has = GREETING.exec(around(text, at, 0, 2))?.[2]
    return `The image was built for the NVIDIA driver ${match[1]} or newer, and the host has ${has ?? 'an older one'}. The compatibility library in the image, which bridges that on data-centre GPUs, does not work here, so programs in it cannot use the GPU.`
  },
  remedies: ({ match }) => [
    { text: `Update the NVIDIA driver of the host to ${match[1]} or newer, then reboot: a newer driver runs older images too.` },
    {
      text: "Or use an older release of the image: NVIDIA's release notes (docs.nvidia.com/deeplearning/frameworks) name the driver that each needs.",
      command: 'nvidia-smi',
    },
  ],
  unless: ({ text, at }) => !GREETING.test(around(text, at, 0, 2)),
}

/** The code of cuInit in the greeting says no more than it does. */
export const greeted = ({ text, at }: Seen): boolean => /was built for NVIDIA Driver Release [\d.]{3,12} or later/.test(around(text, at, 4, 0))

/** Said by the same script (checkSMVER.sh), after a warning for each GPU that is there. */
export const noGpuOfImage: Rule = {
  pattern: /No supported GPU\(s\) detected to run this container/,
  severity: 'critical',
  title: 'The image supports no GPU of this host',
  verdict: ({ text, at }) => {
    const gpu = /Detected (?:NVIDIA )?(.{3,60}?) GPU, which (?:is|may) not/.exec(around(text, at, 6, 2))?.[1]
    return `The image holds no code for ${gpu === undefined ? 'the GPUs that it found' : `the ${gpu}`}: they are older or newer than those it was built for.`
  },
  remedies: [
    { text: 'For a newer GPU use a newer release of the image, for an older one an older release: its release notes name the compute capabilities.' },
    { text: 'See which capability the GPUs have.', command: COMPUTE_CAP },
  ],
}
