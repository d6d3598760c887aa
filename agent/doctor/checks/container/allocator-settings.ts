// Is PYTORCH_CUDA_ALLOC_CONF of each container one that its PyTorch takes, and not at odds with itself?
import { defineCheck } from '../../definition.ts'
import { parseAllocConf } from '../../parts/alloc-conf.ts'
import { complain, eachContainer, pass, type ContainerFinding } from '../../container/view.ts'
import { torchRelease } from '../../container/python-packages.ts'

const [OLD, NEW] = ['PYTORCH_CUDA_ALLOC_CONF', 'PYTORCH_ALLOC_CONF'] as const
const GOOD = {
  text: 'A setting that helps most against fragmentation, and needs no tuning (put it into the environment of the container):',
  command: `export ${OLD}=expandable_segments:True`,
}

export const containerAllocatorSettings = defineCheck({
  id: 'container-allocator-settings',
  group: 'container',
  title: `${OLD} of each container is valid`,
  covers: ['fragmentation_pressure', 'cuda_oom'],
  run: async (around) =>
    await eachContainer(around, async (view) => {
      const env = await view.env()
      const set = [OLD, NEW].flatMap((name) => {
        const text = env.get(name)
        return text === undefined || text.trim() === '' ? [] : [{ name, text }]
      })
      if (set.length === 0) return [pass('not set: PyTorch goes by its defaults')]
      const found: ContainerFinding[] = []
      for (const { name, text } of set) {
        for (const { level, message } of parseAllocConf(text).problems) {
          const remove = { text: `Correct it in the environment of the container, or take ${name} out.`, command: `unset ${name}` }
          found.push(
            complain(level === 'refused' ? 'fail' : 'warn', `${name}: ${message}${level === 'refused' ? '; PyTorch ends at its first use of the GPU' : ''}`, [
              remove,
              GOOD,
            ]),
          )
        }
      }
      const [first, second] = set
      if (first !== undefined && second !== undefined && first.text !== second.text) {
        found.push(
          complain('warn', `${OLD} and ${NEW} say different things; which counts depends on the version of PyTorch`, [
            { text: 'Keep one of them.', command: `unset ${NEW}` },
          ]),
        )
      }
      const torch = (await view.torches().catch(() => []))[0]
      const release = torch === undefined ? undefined : torchRelease(torch)
      if (first?.name === NEW && torch !== undefined && release !== undefined && (release[0] < 2 || (release[0] === 2 && release[1] < 9))) {
        found.push(
          complain('warn', `${NEW} is not read by PyTorch ${torch.version} (2.9 and newer read it)`, [
            { text: 'Use the older name, which all versions read.', command: `export ${OLD}=${first.text}` },
          ]),
        )
      }
      return found.length > 0 ? found : [pass(set.map(({ name, text }) => `${name}=${text}`).join(', '))]
    }),
})
