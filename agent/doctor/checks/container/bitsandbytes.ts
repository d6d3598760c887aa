// Has the bitsandbytes of each container a library for the CUDA of its PyTorch, and what that library needs?
import { defineCheck } from '../../definition.ts'
import { complain, eachContainer, pass, skipped, type ContainerFinding, type ContainerView } from '../../container/view.ts'
import { readElf } from '../../container/elf.ts'
import { wheelFolders, type PythonPlace } from '../../container/python-packages.ts'

const VARIABLE = 'BNB_CUDA_VERSION'
const FILE = /^libbitsandbytes_cuda(\d{2,3})\.so$/
const UPDATE = { text: 'Install a version of bitsandbytes that knows this CUDA (in the Dockerfile).', command: 'pip install -U bitsandbytes' }
const number = (cuda: string): string => cuda.replace('.', '')
const majorOf = (name: string): string => name.slice(0, -1)

async function judge(view: ContainerView, place: PythonPlace): Promise<ContainerFinding> {
  const files = view.files()
  const folder = `${place.folder}/bitsandbytes`
  const torches = await view.torches()
  const torch = torches.find((one) => one.place.folder === place.folder) ?? torches[0]
  const wanted = (await view.env()).get(VARIABLE)
  const names = (await files.list(folder)) ?? []
  const libraries = names.flatMap((name) => FILE.exec(name)?.[1] ?? []).sort()
  if (libraries.length === 0) return complain('fail', `${folder} has no library for CUDA: loading in 8 or 4 bits fails`, [UPDATE])
  if (torch?.cuda === undefined)
    return skipped(torch === undefined ? 'bitsandbytes is there, and no PyTorch is found' : `PyTorch ${torch.version} is not a build for CUDA`)
  const own = number(torch.cuda)
  const version = wanted === undefined || wanted === '' ? own : wanted
  const has = `it has ${libraries.join(', ')}`
  if (!libraries.includes(version)) {
    const near = libraries.filter((one) => majorOf(one) === majorOf(own))
    const best = near.findLast((one) => Number(one) <= Number(own)) ?? near.at(-1)
    const set =
      best === undefined ? [] : [{ text: `Or take its library for the nearest CUDA: set ${VARIABLE} for the program.`, command: `export ${VARIABLE}=${best}` }]
    if (version !== own) {
      const unset = { text: `Remove ${VARIABLE} from the container's environment, then create it again.`, command: `unset ${VARIABLE}` }
      return complain(
        'fail',
        `${VARIABLE}=${version}: bitsandbytes has no libbitsandbytes_cuda${version}.so; ${has}`,
        libraries.includes(own) ? [unset] : [UPDATE, ...set],
      )
    }
    // Newer versions take another library of the same major version by themselves.
    return complain(near.length > 0 ? 'warn' : 'fail', `bitsandbytes has no libbitsandbytes_cuda${own}.so for PyTorch's CUDA ${torch.cuda}; ${has}`, [
      UPDATE,
      ...set,
    ])
  }
  const path = `${folder}/libbitsandbytes_cuda${version}.so`
  const elf = await readElf(files, path)
  if (elf === undefined) return complain('fail', `${path} is no library for this machine`, [UPDATE])
  const search = await view.libraries()
  const wheels = [...(await wheelFolders(files, torch.place)), `${torch.folder}/lib`]
  const missing: string[] = []
  for (const needed of elf.needed.filter((one) => /^lib(cudart|cublas|cublasLt|cusparse|nvJitLink)\.so/.test(one))) {
    // PyTorch has loaded its own before bitsandbytes is.
    const inWheel = (await Promise.all(wheels.map(async (one) => (await search.names(one)).has(needed)))).includes(true)
    if (!inWheel && (await search.find(needed, { path, elf })) === undefined) missing.push(needed)
  }
  if (missing.length === 0) return pass(`libbitsandbytes_cuda${version}.so fits PyTorch's CUDA ${torch.cuda}, and finds what it needs`)
  const other =
    majorOf(version) === majorOf(own)
      ? []
      : [{ text: `It is built for another CUDA than PyTorch (${torch.cuda}): unset ${VARIABLE}.`, command: `unset ${VARIABLE}` }]
  return complain('fail', `libbitsandbytes_cuda${version}.so needs ${missing.join(', ')}: not where the loader looks, nor beside PyTorch`, [
    ...other,
    { text: 'Install PyTorch with all that it depends on, of one CUDA with bitsandbytes.', command: 'pip install --force-reinstall torch bitsandbytes' },
  ])
}

export const containerBitsandbytes = defineCheck({
  id: 'container-bitsandbytes',
  group: 'container',
  title: "each container's bitsandbytes has a library for its CUDA",
  covers: ['bitsandbytes_setup'],
  run: async (around) =>
    await eachContainer(around, async (view) => {
      const places = (await view.pythons()).filter(({ names }) => names.has('bitsandbytes'))
      if (places.length === 0) return [skipped('no bitsandbytes is found in it')]
      return await Promise.all(places.map(async (place) => await judge(view, place)))
    }),
})
