// Libraries of the Jetson's board support (L4T): they are on its host alone, and the NVIDIA runtime mounts them into containers.
// https://github.com/dusty-nv/jetson-containers/issues/196, https://github.com/balena-os/balena-jetson-orin/issues/519
import type { Rule } from './rules.ts'
import { known } from './window.ts'

const NAMES = 'nv(?:cudla|dla_\\w{3,20}|os|rm_\\w{2,20}|map|media\\w{0,20}|sci\\w{2,20}|tegra\\w{0,20}|tvmr|buf\\w{2,20}|bufsurface|mmlite\\w{0,20})'

export const l4tLibrary: Rule = {
  pattern: new RegExp(`(?<![\\w.-])(lib${NAMES}\\.so(?:\\.\\d{1,6}){0,3})"?'?: cannot open shared object file`),
  severity: 'critical',
  title: 'A library of the Jetson is missing',
  verdict: ({ match }) =>
    `${match[1]} is part of L4T, the driver package of a Jetson, and is not here. In a container it is there only when the NVIDIA runtime has mounted it from the host.`,
  remedies: ({ situation }) => [
    {
      text: 'In a container: start it with the NVIDIA runtime, from an image for the L4T of this board; for builds and compose make that runtime the default one ("default-runtime": "nvidia" in /etc/docker/daemon.json).',
      command: `head -n 1 /etc/nv_tegra_release; docker run --runtime nvidia ${situation().subject.image ?? '<IMAGE>'}`,
    },
    {
      text: 'On the board itself: see which package of L4T brings it, and install that again.',
      command: 'dpkg -l | grep nvidia-l4t; sudo apt-get install nvidia-jetpack',
    },
    { text: 'On another computer such an image cannot run its GPU code: it is for Jetson boards alone.' },
  ],
  facts: ({ match }) => known({ library: match[1] }),
}
