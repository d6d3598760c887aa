// JAX and its plugin for the GPU: of different releases, or installed and unable to start.
import { pipInstall } from '../remedies/pip.ts'
import type { Rule } from '../parts/rules.ts'

export const JAX_LITERALS = ['Mismatched PJRT plugin', 'not compatible with the installed jaxlib', 'Jax plugin configuration error: Exception when calling']

/** The exception that the plugin ended with, below in the same traceback. */
const REASON = /^(?:\w{1,40}\.){0,4}\w{1,40}(?:Error|Exception): (.{3,200})/
const reasonBelow = (text: readonly string[], at: number): string | undefined =>
  text
    .slice(at + 1, at + 60)
    .map((line) => REASON.exec(line)?.[1])
    .find((found) => found !== undefined)

export const jaxRules: readonly Rule[] = [
  {
    // xla_bridge.discover_pjrt_plugins logs it and goes on without the plugin.
    pattern: /Jax plugin configuration error: Exception when calling jax_plugins\.(\w{3,30})\.initialize/,
    severity: 'critical',
    title: "JAX's plugin for the GPU does not start",
    verdict: ({ match, text, at }) => {
      const reason = reasonBelow(text, at)
      return `The plugin ${match[1]} is installed, and it failed while it started${reason === undefined ? '' : `: "${reason}"`}. JAX then computes on the CPU.`
    },
    remedies: ({ situation, match }) => [
      {
        text: 'See whether the driver shows a GPU here, and that it is new enough (CUDA 12: 525 or newer; CUDA 13: 580 or newer).',
        command: 'nvidia-smi',
      },
      {
        text: 'See that no older CUDA library comes first: a folder in LD_LIBRARY_PATH, or a module of the cluster.',
        command: 'printenv LD_LIBRARY_PATH; pip list | grep -iE "jax|nvidia"',
      },
      {
        text: 'If the driver works: install jax, jaxlib and the plugin again in one command, so that all are of one release.',
        command: pipInstall(situation(), match[1]?.endsWith('13') === true ? "'jax[cuda13]'" : "'jax[cuda12]'", '--upgrade --force-reinstall'),
      },
    ],
    // The traceback names the library or the code of CUDA: that family speaks.
    unless: ({ text, at }) => text.slice(at + 1, at + 60).some((line) => /CUDA_ERROR_|cudaError[A-Z]|Unable to load cu|but JAX was built against/.test(line)),
  },
  {
    pattern: /Mismatched PJRT plugin PJRT API version \(([\d.]{1,9})\) and framework PJRT API version \(?([\d.]{1,9}\d)/,
    severity: 'critical',
    title: 'JAX does not fit its GPU plugin',
    verdict: ({ match }) =>
      `JAX's plugin for the GPU (PJRT API ${match[1]}) and jaxlib (PJRT API ${match[2]}) are of different releases, so JAX cannot use the GPU.`,
    remedies: ({ situation }) => [
      { text: 'Install jax, jaxlib and the plugin in one command.', command: pipInstall(situation(), "'jax[cuda12]'", '--upgrade') },
      { text: 'See which releases are there: all must be the same.', command: 'python -m pip list | grep -i jax' },
    ],
  },
  {
    pattern: /JAX plugin (\S{3,40}) version (\S{1,20}) is installed, but it is not compatible with the installed jaxlib version ([\w.]{1,20})/,
    severity: 'warning',
    title: 'JAX does not use its CUDA plugin',
    verdict: ({ match }) => `${match[1]} ${match[2]} does not belong to jaxlib ${match[3]}, so JAX leaves it out and finds no GPU.`,
    remedies: ({ situation }) => [
      { text: 'Install jax, jaxlib and the plugin in one command.', command: pipInstall(situation(), "'jax[cuda12]'", '--upgrade') },
      { text: 'See which devices JAX finds then.', command: 'python -c "import jax; print(jax.devices())"' },
    ],
  },
]
