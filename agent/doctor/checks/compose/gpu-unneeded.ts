// Was a GPU given to a service that cannot make use of one?
import { defineCheck } from '../../definition.ts'
import { gpuAsks, gpuGiven } from '../../compose/gpu.ts'
import { complainOf, eachService, passOf, upCommand } from '../../compose/look.ts'
import { at, placeText } from '../../compose/part.ts'

export const composeGpuUnneeded = defineCheck({
  id: 'compose-gpu-unneeded',
  group: 'compose',
  title: 'no GPU is given to a service that cannot make use of one',
  covers: ['unused_gpu'],
  run: async (around) =>
    await eachService(around, 'no service asks for a GPU', (service, project) => {
      // A default runtime gives a GPU only to a container that asks for one.
      if (gpuGiven(service, undefined) === undefined) return []
      const { family, name, part } = service
      if (family?.gpu !== 'none') return [passOf(service, 'it asks for a GPU')]
      const place = gpuAsks(service)[0] ?? at(part, 'runtime') ?? at(part, 'devices')
      return [
        complainOf('warn', service, place, `it is given a GPU, of which its image (${family.name}) makes no use`, [
          { text: `Take the GPU out of ${name} (${placeText(place ?? service)}): who looks for a free one will find it. Then: ${upCommand(project, name)}` },
        ]),
      ]
    }),
})
