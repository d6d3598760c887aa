// NVIDIA's images compare the driver of the host with the one that they were built for when they start (their entrypoint script).
import type { Rule } from './rules.ts'
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
