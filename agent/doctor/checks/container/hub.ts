// Are the settings for Hugging Face's hub of each container of one mind: offline with models there, no names that have no effect?
import { defineCheck } from '../../definition.ts'
import { hubFolder } from '../../parts/cache-folders.ts'
import { complain, eachContainer, pass, recreate, type ContainerFinding } from '../../container/view.ts'

/** As huggingface_hub reads a flag (constants.py, ENV_VARS_TRUE_VALUES). */
const on = (text: string | undefined): boolean => text !== undefined && ['1', 'ON', 'YES', 'TRUE'].includes(text.toUpperCase())
const off = (text: string | undefined): boolean => text === undefined || ['', '0', 'OFF', 'NO', 'FALSE'].includes(text.toUpperCase())
const [OFFLINE, OLD] = ['HF_HUB_OFFLINE', 'TRANSFORMERS_OFFLINE'] as const

export const containerHub = defineCheck({
  id: 'container-hub',
  group: 'container',
  title: "each container's settings for the model hub fit together",
  covers: ['hub_rate_limited', 'cache_permission'],
  run: async (around) =>
    await eachContainer(around, async (view) => {
      const { container } = view
      const env = await view.env()
      const found: ContainerFinding[] = []
      const complains = (status: 'warn' | 'fail', summary: string, text: string, command?: string): void =>
        void found.push(complain(status, summary, [{ text, ...(command === undefined ? {} : { command }) }]))
      for (const name of [OFFLINE, OLD]) {
        const value = env.get(name)
        if (!on(value) && !off(value))
          complains(
            'warn',
            `${name}="${value?.slice(0, 40) ?? ''}": expected 1 or 0; it counts as 0`,
            'Set it to 1 in the environment of the container.',
            `export ${name}=1`,
          )
      }
      const offline = [OFFLINE, OLD].find((name) => on(env.get(name)))
      const hub = hubFolder(env)
      // Where it cannot be read, nothing is reported.
      if (offline !== undefined && hub !== undefined && container.files !== undefined) {
        const names = await container.files.list(hub)
        if (names === undefined || !names.some((name) => name.startsWith('models--'))) {
          found.push(
            complain('warn', `${offline}=1, but ${hub} has no models: whatever is loaded by its name fails (paths to folders work)`, [
              {
                text: 'Fill the folder first, with the network: mount the same folder and download.',
                command: `HF_HUB_CACHE=/srv/hf/hub hf download ORGANIZATION/MODEL`,
              },
              recreate(container, `-v /srv/hf:${hub.replace(/\/hub$/, '')}`, `volumes: ["/srv/hf:${hub.replace(/\/hub$/, '')}"]`),
            ]),
          )
        }
      }
      if (on(env.get('HF_HUB_ENABLE_HF_TRANSFER'))) {
        const places = await view.pythons().catch(() => [])
        // From 1.0 on it does not use hf_transfer any more, and the variable does nothing (huggingface/huggingface_hub#3444).
        const hubs = places.filter(({ names }) => names.has('huggingface_hub') && ![...names].some((name) => /^huggingface_hub-[1-9]\d*\./.test(name)))
        if (hubs.length > 0 && !places.some(({ names }) => names.has('hf_transfer') || names.has('hf_xet'))) {
          complains(
            'fail',
            'HF_HUB_ENABLE_HF_TRANSFER=1, but the package hf_transfer is not installed: downloads fail',
            'Install it in the image, or take the variable out.',
            'pip install hf_transfer',
          )
        }
      }
      if (env.has('TRANSFORMERS_CACHE') && !env.has('HF_HOME') && !env.has('HF_HUB_CACHE')) {
        complains(
          'warn',
          'TRANSFORMERS_CACHE is no longer read by transformers 5; models would be downloaded again elsewhere',
          'Name the folder by HF_HUB_CACHE as well.',
          'export HF_HUB_CACHE="$TRANSFORMERS_CACHE"',
        )
      }
      if (found.length > 0) return found
      return [pass(offline === undefined ? 'nothing is at odds' : `${offline}=1, and models are in its cache`)]
    }),
})
