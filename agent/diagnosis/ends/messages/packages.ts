// Messages of Python and pip that say which package is missing, hidden by a file of one's own, or of another version than its neighbour.
import type { Piece } from '../../faults/remedies/plan.ts'
import type { EndContext } from '../end-kind.ts'
import { installs, newerName, packageOf, packageOfClass, rebuilds } from '../python-packages.ts'
import { frameName } from '../../traceback/user-frame.ts'
import { failedCall } from '../failed-call.ts'
import { moved, moves } from '../moved-names.ts'
import type { Known } from './message.ts'

const PIN: Piece = { text: 'Pin the versions of what the job needs (requirements file, image), so that the next start has the same.' }
const SHOW = (...names: readonly string[]): Piece => ({
  text: `See which ${names.length === 1 ? `${names[0]} is` : `releases of ${names.join(' and ')} are`} installed where the job runs.`,
  command: `python -m pip show ${names.join(' ')}`,
})

/** The package whose code made the failing call or import; undefined where it is the user's own. */
export const caller = ({ error }: EndContext, except?: string): string | undefined =>
  packageOf(error?.frames.findLast(({ file }) => !file.startsWith('<') && (except === undefined || packageOf(file) !== except))?.file)

/** Two packages that were made for other releases of each other. */
export function together(first: string, second: string, name: string): readonly Piece[] {
  // Another torch takes what was built for this one with it, and Triton belongs to it.
  if (second === 'triton')
    return [
      {
        text: `${first} uses ${name}, which the Triton of this PyTorch does not have: update ${first} alone, Triton belongs to PyTorch.`,
        command: `python -m pip install --upgrade --no-deps ${first}`,
      },
      { text: 'See which are installed.', command: `python -m pip show ${first} torch triton` },
    ]
  if (second === 'torch' && name.startsWith('torch._six'))
    return [
      { text: `PyTorch 2 removed ${name}, which ${first} still uses: update ${first} alone.`, command: `python -m pip install --upgrade --no-deps ${first}` },
    ]
  if (second === 'torch' || first === 'torch')
    return [
      {
        text:
          second === 'torch'
            ? `${first} uses ${name}, which the installed PyTorch does not have: install the release of ${first} that was made for this PyTorch.`
            : `PyTorch uses ${name}, which the installed ${second} does not have: install the release of ${second} that this PyTorch asks for.`,
        command: `python -m pip install '${second === 'torch' ? first : second}==<VERSION>'`,
      },
      { text: 'See which are installed.', command: `python -m pip show ${first} ${second}` },
    ]
  return [
    {
      text: `${first} uses ${name}, which the installed ${second} does not have: their releases do not belong together. Update both.`,
      command: `python -m pip install --upgrade ${first} ${second}`,
    },
    { text: 'Where one of them must stay: take the release of the other from the same time.', command: `python -m pip show ${first} ${second}` },
  ]
}
/** `transformers 5 has no AutoModelForVision2Seq`, where the release is known. */
const lacking = (name: string, module: string): string | undefined => {
  const move = moved(name, packageOf(`/site-packages/${module.split('.')[0]}/`) ?? module)
  if (move === undefined) return undefined
  const owner = move.owner === 'torch' ? 'PyTorch' : move.owner
  return move.gone ? `${owner} ${move.release} has no ${name} any more` : `${name} needs ${owner} ${move.release} or newer`
}
const renamed = (name: string, owner: string | undefined): Piece => {
  const now = newerName(name, owner)
  return now !== undefined && { text: `In newer releases ${name} is ${now}: change it in the program.` }
}
/** A name that a package does not have in the installed release. */
function lacks(name: string, module: string, context: EndContext): readonly Piece[] {
  const package_ = packageOf(`/site-packages/${module.split('.')[0]}/`) ?? module
  const from = caller(context, package_)
  const foreign = from !== undefined
  const move = moved(name, package_)
  if (move !== undefined)
    return [moves(name, move, foreign ? from : undefined, context.situation.system === 'windows'), foreign ? SHOW(package_, from) : SHOW(package_)]
  if (foreign) return together(from, package_, name)
  const newModel = package_ === 'transformers' && !/^PreT/i.test(name) && /^[A-Z]\w*(?:For[A-Z]|Config$|Model$|Tokenizer|Processor)/.test(name)
  // What was built for the installed PyTorch is not simply updated.
  const built = package_ === 'torch' || installs(package_.replaceAll('-', '_'), context.situation).includes('--no-build-isolation')
  return [
    renamed(name, module),
    newModel && { text: `${name} is of a newer Transformers than the one that is installed.`, command: 'python -m pip install --upgrade transformers' },
    !newModel &&
      !built && {
        text: `Update ${package_}; where the newest has no ${name} either, install the release that the program was written for.`,
        command: `python -m pip install --upgrade ${package_}`,
      },
    SHOW(package_),
    built && {
      text: `Then install the release of ${package_} that the program was written for, or change the program: names move from release to release.`,
      command: `python -m pip install '${package_}==<VERSION>'`,
    },
  ]
}
const hidden = (path: string): readonly Piece[] => [
  { text: `Rename ${path}: it has the name of a package, so that Python imports it in place of the package. Remove its __pycache__ too.` },
]
const isOwn = (path: string | undefined): path is string => path !== undefined && path.includes('/') && !/(?:site|dist)-packages|[\\/]lib[\\/]python/.test(path)
/** A module in a package of the code itself hides nothing. */
const hides = (path: string | undefined, module: string): path is string => isOwn(path) && !module.includes('.')
/** Libraries of which many people run a checkout: what is there is not their own code. */
const CHECKOUT = /^(?:vllm|sglang|transformers|trl|diffusers|verl|peft|accelerate|unsloth|deepspeed|megatron|torchtitan|lm_eval)\b/
const ownLacks = (name: string, module: string, path: string): readonly Piece[] =>
  CHECKOUT.test(module)
    ? [
        {
          text: `${module.split('.')[0]} is imported from a checkout, in which ${module} has no ${name}: bring it to the release that the importing code was written for, or update that code. Names move from release to release.`,
          command: `git -C ${path.replace(/\/[^/]*$/, '')} log -1 --format="%h %cd"`,
        },
      ]
    : [
        {
          text: `Correct the import, or define ${name} in ${path}: ${module} is part of the code itself, which may be of another version than what imports it.`,
        },
        { text: `If ${name} is compiled (C++, CUDA), build it first, as the README of the code says.` },
      ]

const REQUIREMENT = /([A-Za-z][\w.-]{0,40}(?:\[[\w,]{1,40}\])?) ?((?:>=|<=|==|~=|!=|<|>) ?\d[\w.*]{0,20}(?:, ?(?:>=|<=|==|~=|!=|<|>) ?\d[\w.*]{0,20}){0,3})/g

export const PACKAGES: readonly Known[] = [
  {
    // What a package compiles, by the names that are usual for it.
    pattern: /cannot import name ['"](_C\w{0,20}|csrc|_ext|_cuda\w{0,20})['"] from (?:partially initialized module )?['"]([\w.]{1,120})['"]/,
    title: ([, , module = '']) => `The compiled part of ${packageOf(`/site-packages/${module.split('.')[0]}/`) ?? module} is missing`,
    says: 'It is built when the package is installed, or at the first start, and that failed.',
    remedies: ([, , module = ''], { situation }) => [
      situation.system === 'windows' && {
        text: "Install the Build Tools of Visual Studio (Desktop development with C++) and the CUDA toolkit, and start from the x64 Native Tools Command Prompt: 'where cl' and 'where nvcc' must find both.",
      },
      {
        text: 'Build it again where a compiler and nvcc of the CUDA of PyTorch are found, or take a wheel that its project built for this PyTorch. The first error of the build is the one that counts.',
        command: `python -m pip install -v --force-reinstall --no-deps ${rebuilds(module, situation)}`,
      },
      {
        text: 'A folder of that name beside the script is taken in its place: start the script from another one.',
        command: `python -c "import ${module.split('.')[0]} as m; print(m.__file__)"`,
      },
    ],
  },
  {
    pattern: /cannot import name ['"]?(\w{1,80})['"]? from (?:partially initialized module )?['"]([\w.]{1,120})['"](?: \(([^)\n]{1,300})\))?/,
    title: ([, name = '', module = '', path]) =>
      hides(path, module)
        ? `A file of your own hides the package ${module}`
        : isOwn(path)
          ? `${module} has no ${name}`
          : (lacking(name, module) ?? `The installed ${module} has no ${name}`),
    says: ([, name, module = '', path]) =>
      hides(path, module)
        ? `A file of your own hides the package ${module}.`
        : path === undefined || isOwn(path)
          ? undefined
          : `The ${module} that is installed has no ${name}.`,
    remedies: ([, name = '', module = '', path], context) =>
      hides(path, module) ? hidden(path) : isOwn(path) ? ownLacks(name, module, path) : lacks(name, module, context),
  },
  {
    pattern: /No module named '([\w.]{1,120})'; '([\w.]{1,120})' is not a package/,
    says: ([, , hider]) => `A file called ${hider?.split('.').at(-1)}.py hides the package ${hider}.`,
    remedies: ([, , hider = '']) => hidden(`${hider.replaceAll('.', '/')}.py`),
  },
  {
    pattern: /No module named '(mmcv)\._ext'/,
    says: 'The mmcv that is installed has no compiled operations: it is mmcv-lite, or a build without them.',
    remedies: () => [
      {
        text: 'Install the whole mmcv as OpenMMLab builds it for this PyTorch and CUDA.',
        command: 'python -m pip uninstall -y mmcv mmcv-lite; python -m pip install openmim; mim install mmcv',
      },
    ],
  },
  {
    // Python names the first part that is missing: what is before the last dot was found.
    pattern: /No module named '((?!google|nvidia|ruamel)[A-Za-z]\w{0,60})((?:\.\w{1,60})*)\.(\w{1,60})'/,
    title: ([, top = '', , last = '']) => lacking(last, top) ?? `The installed ${top} has no ${last}`,
    says: ([, top, , last]) => `${top} itself was found, without ${last}: it is of another release, or a folder of that name hides it.`,
    remedies: ([, top = '', between = '', last = ''], context) => {
      const name = packageOf(`/site-packages/${top}/`) ?? top
      const from = caller(context)
      if (from !== undefined && from !== name) return together(from, name, `${top}${between}.${last}`)
      return [
        {
          text: `See from where ${top} is imported, and in which version: a folder called ${top} beside the script hides the package.`,
          command: `python -c "import ${top}; print(${top}.__path__)"; python -m pip show ${name}`,
        },
        ...(moved(last, name) === undefined ? lacks(last, top, context).slice(-1) : lacks(last, top, context).slice(0, 1)),
      ]
    },
  },
  {
    pattern: /No module named '_(?:lzma|ctypes|bz2|sqlite3|ssl|tkinter)'/,
    says: 'This Python was compiled without that part, since the headers of its library were missing.',
    remedies: () => [
      {
        text: 'Install the headers and compile this Python again, or use the Python of the distribution or of conda.',
        command: 'sudo apt-get install -y liblzma-dev libffi-dev libbz2-dev libsqlite3-dev libssl-dev tk-dev',
      },
    ],
  },
  {
    pattern: /module '([\w.]{1,80})' has no attribute '(\w{1,80})'/,
    title: ([, module = '', name = '']) => lacking(name, module),
    says: ([, module, name]) => `The ${module} that was imported has no ${name}.`,
    remedies: ([, module = '', name = ''], context) => lacks(name, module, context),
  },
  {
    pattern: /(?:(\w{1,60})\.)?(\w{1,60})\(\) got an unexpected keyword argument '(\w{1,60})'/,
    says: ([, , , name]) => `What was called does not know ${name} in the release that is installed.`,
    remedies: ([, owner, method = '', name = ''], context) => {
      const package_ = packageOfClass(owner ?? method)
      const from = caller(context)
      // A wrapper of the library itself may be between.
      const foreign = from !== package_ && !(package_ === 'trl' && from === 'transformers')
      const { own, deepest, call } = failedCall(context)
      // The line itself names the argument: no wrapper that only passes it on.
      const gave = context.facts.frame === undefined || (deepest?.code !== undefined && (deepest.code.includes(name) || !/\*\*\w|\(\*\w/.test(deepest.code)))
      if (own?.code?.includes(`${name}=`) === true && own !== deepest && call !== undefined && owner !== undefined)
        return [
          {
            text: `${call.callee}(…) at ${frameName(own)} passes ${name} on to ${owner}, which does not take it: print(type(${call.callee})) shows whether that is the object that was meant (a tokenizer in place of a processor takes no images). Else leave ${name} out.`,
          },
          package_ !== undefined && {
            text: `Or ${package_} is of another release than the program was written for.`,
            command: `python -m pip show ${package_}`,
          },
        ]
      if (package_ !== undefined && from !== undefined && foreign && gave) return together(from, package_, `${name} of ${owner ?? method}`)
      const now = renamed(name, owner ?? method)
      if (package_ === undefined && now === false) return []
      return [
        now,
        package_ !== undefined && {
          text: `${now === false ? `${package_} does not know ${name}: it is older or newer than the program was written for. See` : 'See'} which ${package_} is installed.`,
          command: `python -m pip show ${package_}`,
        },
        package_ !== undefined && now === false && { text: `Update it, or leave ${name} out.`, command: `python -m pip install --upgrade ${package_}` },
      ]
    },
  },
  {
    pattern: /numpy\.(?:dtype|ufunc|ndarray) (?:size changed, may indicate binary incompatibility|has the wrong size, try recompiling)/,
    title: 'A module was built for another NumPy',
    says: 'A compiled module was built for another NumPy than the one that is installed.',
    remedies: (_, context) => {
      const module = /in init (\w{1,40})|site-packages\/(\w{1,40})\/.{1,80}\.pyx/.exec(context.situation.text)
      const name = module?.[1] ?? module?.[2]
      return [
        {
          text: `Reinstall ${name ?? 'the module that the traceback names'}: pip then takes a build for this NumPy.`,
          command: `python -m pip install --force-reinstall --no-cache-dir --no-deps ${name === undefined ? '<PACKAGE>' : installs(name, context.situation)}`,
        },
        { text: 'Or go back to NumPy 1, where other modules were built for it.', command: "python -m pip install 'numpy<2'" },
      ]
    },
  },
  {
    pattern:
      /incompatible version of ([\w-]{2,40})\. Found version (\d[\w.]{0,20}), but only versions? (above|at least|below|up to) (\d[\w.]{0,20}?)\.? (?:are|is) supported/,
    remedies: ([, name, , how, version]) => [
      {
        text: `Install ${name} in a release that it asks for.`,
        command: `python -m pip install '${name}${{ above: '>', 'at least': '>=', below: '<' }[how ?? ''] ?? '<='}${version}'`,
      },
      { text: `Or remove ${name}, if the program does not need it.`, command: `python -m pip uninstall -y ${name}` },
    ],
  },
  {
    // A version that a package asks for, in its own words.
    pattern: /(?:required|requires|install|need|upgrade|update|incompatible|but found|only works|at least|too old)/i,
    remedies: (_, context) => {
      const asked = [...`${context.error?.message}`.matchAll(REQUIREMENT)].filter(
        ([, name = '', versions = '']) =>
          !/^(?:python|cuda|sm|driver|cudnn|got|than|versions?|to|be|is|it|and|or|with|by|from)$/i.test(name) &&
          // Not a setting and its value.
          (versions.includes('.') || !(name.includes('_') || /^ ?>(?!=)/.test(versions))),
      )
      // The one that is installed is named with ==.
      const wanted = asked.find(([, , versions]) => versions?.startsWith('==') !== true) ?? (asked.length === 1 ? asked[0] : undefined)
      if (wanted === undefined) return []
      if (/^(?:py)?torch$/i.test(wanted[1] ?? ''))
        return [
          { text: `Install PyTorch${wanted[2]?.replace(/\.$/, '')}, with all that was built for the one before (torchvision, flash-attn and the like).` },
          SHOW('torch'),
        ]
      const name = (wanted[1] ?? '').toLowerCase()
      const spec = `${name}${(wanted[2] ?? '').replaceAll(' ', '').replace(/\.$/, '')}`
      const build = name.startsWith('mmcv')
      return [
        {
          text: `Install ${name} in a release that it asks for.`,
          command: build ? `python -m pip install openmim; mim install '${spec}'` : `python -m pip install '${spec}'`,
        },
        SHOW(name.replace(/\[.*/, '')),
        PIN,
      ]
    },
  },
]
