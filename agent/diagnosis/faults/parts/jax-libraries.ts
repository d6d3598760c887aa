// JAX compares the CUDA libraries that the loader finds with those that it was built for.
import { pipInstall } from '../remedies/pip.ts'
import type { Piece } from '../remedies/plan.ts'
import type { Matched, Rule } from './rules.ts'
import { around } from './window.ts'

/** JAX brings its CUDA libraries along, unless the loader finds others first. */
export const jaxPackages = ({ situation }: Pick<Matched, 'situation'>): readonly Piece[] => [
  {
    text: 'Install jax, jaxlib and the plugin in one command.',
    command: pipInstall(situation(), `'jax[cuda${/cuda-?13/i.test(situation().text) ? 13 : 12}]'`, '--upgrade'),
  },
  {
    text: 'If LD_LIBRARY_PATH puts another CUDA first: without it JAX finds its own.',
    command: 'printenv LD_LIBRARY_PATH; env -u LD_LIBRARY_PATH python -c "import jax; print(jax.devices())"',
  },
]

export const jaxLibraries: Rule = {
  pattern: /Found (?<library>cu[A-Z]\w{2,8}|CUDA|CUPTI) version (\d{2,6}), but JAX was built against version (\d{2,6})|Outdated cuDNN installation found/,
  severity: 'critical',
  title: ({ match }) => `${match.groups?.library ?? 'cuDNN'} is older than JAX needs`,
  verdict: ({ match, text, at }) => {
    const near = around(text, at, 0, 4)
    const [has, needs] = [match[2] ?? /Installed version: (\d{4,6})/.exec(near)?.[1], match[3] ?? /Minimum supported: (\d{4,6})/.exec(near)?.[1]]
    return `JAX found ${match.groups?.library ?? 'cuDNN'} ${has ?? 'of an older release'}${needs === undefined ? '' : ` and needs ${needs} or newer`}, so it computes on the CPU.`
  },
  remedies: ({ situation, match }) => [
    {
      text: `Let pip bring the ${match.groups?.library ?? 'cuDNN'} that this JAX was built for.`,
      command: pipInstall(situation(), "'jax[cuda12]'", '--upgrade'),
    },
    {
      text: 'If an older copy comes first (LD_LIBRARY_PATH, a module of the cluster, an image): take it out of the way.',
      command: 'printenv LD_LIBRARY_PATH; pip list | grep -i nvidia-cu',
    },
  ],
}
