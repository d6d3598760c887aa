// A module, symbol, program or system library that is not installed, or of another version.
import { WEIGHT, anyOf, raises, saying, says, type Claim, type EndKind, type EndContext } from '../end-kind.ts'
import { installerOf, pipInstall } from '../../faults/remedies/pip.ts'
import type { Piece } from '../../faults/remedies/plan.ts'
import { TORCH_OWN, torchOwnRemedies } from '../../faults/remedies/torch-own.ts'
import type { Situation } from '../../situation/situation.ts'
import { lookup } from '../../../text/lookup.ts'
import { askedInstall, missingPackage } from '../asked-install.ts'
import { asks } from '../asks.ts'
import { localModule } from '../local-modules.ts'
import { installs } from '../python-packages.ts'

const module = (match: RegExpExecArray): { module?: string } => {
  const name = match.slice(1).find((group) => group !== undefined)
  return name === undefined ? {} : { module: name.replace(/[.,;:]+$/, '') }
}
const programIn = (match: RegExpExecArray): { module?: string; pattern: string } => ({ ...module(match), pattern: 'program' })
const LIBRARIES: Readonly<Record<string, string>> = {
  'libGL.so.1': 'libgl1',
  'libgomp.so.1': 'libgomp1',
  'libsndfile.so': 'libsndfile1',
  'libglib-2.0.so.0': 'libglib2.0-0',
  'libgthread-2.0.so.0': 'libglib2.0-0',
}

const PROGRAMS: Readonly<Record<string, Piece>> = {
  nvcc: {
    text: 'Install the CUDA toolkit of the version that PyTorch was built with (the driver does not bring it), and put its bin folder on PATH.',
    command: 'export CUDA_HOME=/usr/local/cuda PATH=/usr/local/cuda/bin:$PATH',
  },
  ninja: { text: 'Install it.', command: 'python -m pip install ninja' },
  ffmpeg: { text: 'Install it.', command: 'sudo apt-get install -y ffmpeg' },
  gcc: { text: 'Install a compiler.', command: 'sudo apt-get install -y build-essential' },
  cc: { text: 'Install a compiler.', command: 'sudo apt-get install -y build-essential' },
  git: { text: 'Install it.', command: 'sudo apt-get install -y git' },
}

/** Compiled for NumPy 1 and loaded with NumPy 2. */
const NUMPY_1 =
  /compiled using NumPy 1|_ARRAY_API not found|^Numpy is not available|numpy\.core\.multiarray failed to import|`np\.\w{1,30}` was removed in the NumPy 2/
const RUNTIME =
  /(?:([\w.+/-]{0,120}lib(?:stdc\+\+|c|m)\.so\.\d)['`: ]{1,3})?\bversion [`'](GLIBCXX|CXXABI|GLIBC)_([\w.]{1,12})' not found(?: \(required by ([^)\s]{1,200})\))?/
const installed = (situation: Situation): string =>
  installerOf(situation) === 'embedded'
    ? '.\\python_embeded\\python.exe -m pip list'
    : situation.system === 'windows'
      ? 'where python & python -m pip list'
      : 'which python; python -m pip list'

/** An extension was compiled on a newer system than the one that loads it. */
function newerRuntime(words: string): readonly Piece[] | undefined {
  const match = RUNTIME.exec(words)
  if (match === null) return undefined
  const [, library = '', name, , asks] = match
  return [
    name === 'GLIBC'
      ? {
          text: `${asks?.split('/').at(-1) ?? 'The file'} was built on a newer distribution: run the job in a newer image, or install a build for this one. glibc itself cannot be replaced.`,
          command: 'ldd --version | head -n 1',
        }
      : {
          text: 'Let the program find a newer libstdc++ first: conda brings one in its own folder.',
          command: 'conda install -y -c conda-forge libstdcxx-ng && export LD_LIBRARY_PATH="$CONDA_PREFIX/lib:$LD_LIBRARY_PATH"',
        },
    name !== 'GLIBC' && {
      text: 'See up to which version the library that was found goes.',
      command: `strings ${/^[\w./+-]+$/.test(library) ? library : '<LIBRARY>'} | grep -E '^(GLIBCXX|CXXABI)_' | sort -V | tail -n 3`,
    },
    name !== 'GLIBC' && { text: 'Or use a newer distribution or image, whose own libstdc++ is new enough.' },
  ]
}

function remedies(context: EndContext): readonly Piece[] {
  const {
    facts: { module: name, pattern },
    error,
    situation,
  } = context
  const words = error?.message ?? ''
  if (pattern === 'program' && situation.system !== 'linux' && !/not found|o such file|interpreter|exec|binary/.test(words))
    return [
      {
        text: `See whether Windows finds ${name ?? 'the program'} on its PATH, and which environment is active.`,
        command: `where ${safe(name) ?? '<PROGRAM>'} & where python`,
      },
      {
        text: `A command of a Python package is in the folder Scripts of the environment that it was installed into: activate that one (conda activate <NAME>, or .venv\\Scripts\\activate) in the shell that starts the program, and install the package there if it is missing.`,
        command: 'python -m pip list',
      },
    ]
  if (pattern === 'program' || /command not found|executable file not found/.test(words))
    return [
      {
        text: `See whether ${name ?? 'the program'} is installed where the job runs, and on its PATH.`,
        command: `command -v ${safe(name) ?? '<PROGRAM>'}; echo "$PATH"`,
      },
      situation.programs.has('docker') && {
        text: 'In a container: the image must bring it. Check its name in the command or entry point, and the tag of the image.',
      },
      situation.programs.has('slurm') && {
        text: 'In a batch job: load the module or activate the environment in the script itself.',
      },
      lookup(PROGRAMS, name ?? '') ?? { text: 'Install it, or correct the name.' },
    ]
  if (pattern === 'modulefile')
    return [
      {
        text: 'See which versions the cluster has now, and load one of them.',
        command: `module avail ${safe(name)?.split('/')[0] ?? '<MODULE>'}`,
      },
      { text: 'Its names may differ between partitions and after an update: load it in the batch script, with its version.' },
    ]
  if (name !== undefined && TORCH_OWN.test(name)) return torchOwnRemedies(name, error?.frames.map(({ file }) => file).join('\n') ?? '', situation)
  if (name !== undefined && /\.so(?:\.|$)/.test(name)) {
    const known = lookup(LIBRARIES, name)
    return [
      {
        text: `Install the package of the system that brings ${name}.`,
        command: known === undefined ? `apt-file search ${safe(name) ?? '<LIBRARY>'}` : `sudo apt-get install ${known}`,
      },
      { text: 'If it is installed elsewhere, add its folder to the search path of the loader.', command: 'export LD_LIBRARY_PATH=<FOLDER>:$LD_LIBRARY_PATH' },
    ]
  }
  const runtime = newerRuntime(words)
  if (runtime !== undefined) return runtime
  if (pattern === 'numpy_1')
    return [
      { text: 'Use NumPy 1 until all modules that were compiled for it have releases for NumPy 2.', command: "python -m pip install 'numpy<2'" },
      { text: 'Or update the module that the traceback names to a release for NumPy 2; its own code must then be compiled again.' },
    ]
  const other = otherLanguage(words, safe(name))
  if (other !== undefined) return [other, { text: 'Install it in the image or environment of the job, and pin its version.' }]
  // A name from a log must not reach a shell as anything else.
  const top = safe(name)?.split('.')[0]
  const launched = otherPython(context, top)
  if (launched !== undefined) return launched
  const local = top === undefined || !/No module named/.test(words) ? undefined : localModule(top)
  if (local !== undefined) return local
  // Triton's own releases are for Linux.
  const distribution = top === undefined ? undefined : top === 'triton' && situation.system === 'windows' ? 'triton-windows' : installs(top, situation)
  const wrongVersion =
    !/pip install/.test(words) &&
    /cannot import name|has no attribute|undefined symbol|requires? |incompatible|version/.test(words) &&
    !/No module named/.test(words)
  const asked = askedInstall(words)
  return [
    asked === undefined && asks(context),
    asked !== undefined && {
      text: `Install ${asked.module} as the message asks.`,
      command: pipInstall(situation, asked.packages, asked.options),
    },
    {
      text: 'See which Python runs the job and what it has installed: the environment of the job may not be the one that you tested.',
      command: installed(situation),
    },
    asked === undefined &&
      (wrongVersion
        ? {
            text: `${top ?? 'The package'} is installed in a version without this name. Install the version that the program was written for.`,
            command: `python -m pip install '${distribution?.replace(/ -.*/, '') ?? '<PACKAGE>'}==<VERSION>'`,
          }
        : { text: `Install ${top ?? 'the package'} into that environment.`, command: `python -m pip install ${distribution ?? '<PACKAGE>'}` }),
    situation.programs.has('slurm') && { text: 'Activate the environment in the batch script before the program starts.' },
    { text: 'Pin the versions of what the job needs (requirements file, image), so that the next start has the same.' },
  ]
}
const PYTHON_OF = /\bof binary: ((?:\/|[A-Za-z]:\\)[\w./\\-]{3,120}python[\d.]{0,6}(?:\.exe)?)(?=\s|$)/
/** A launcher ran the script under the Python that it belongs to; a project that is there as source is installed from its folder. */
function otherPython({ error, situation: { text } }: EndContext, top: string | undefined): readonly Piece[] | undefined {
  if (top === undefined || !/No module named/.test(error?.message ?? '')) return undefined
  const python = PYTHON_OF.exec(text)?.[1]
  const launcher = /File "((?:\/|[A-Za-z]:\\)[\w./\\-]{1,120}[\\/](?:torchrun|accelerate|deepspeed))"/.exec(text)?.[1]
  const source = error?.frames.map(({ file }) => file).find((file) => new RegExp(`[\\\\/]${top}[\\\\/]`).test(file) && !/(?:site|dist)-packages/.test(file))
  const folder = source?.slice(0, Math.max(source.lastIndexOf(`/${top}/`), source.lastIndexOf(`\\${top}\\`))).replace(/[\\/]src$/, '')
  if (python === undefined) return undefined
  const what = folder !== undefined && /^[\w./-]+$/.test(folder) ? `-e ${folder}` : installs(top, { text: '' })
  return [
    {
      text: `The process ran under ${python}${launcher === undefined ? '' : `, to which ${launcher} belongs`}: see whether ${top} is installed for that Python, and which launcher comes first on PATH.`,
      command: `${python} -m pip show ${top}; which -a python ${launcher?.split('/').at(-1) ?? 'torchrun'}`,
    },
    {
      text: `Start the launcher of the environment that has ${top} (activate it; if it has no launcher of its own, install PyTorch into it), or install ${top} for that Python.`,
      command: `${python} -m pip install ${what}`,
    },
  ]
}
/** How packages of other languages are installed. */
function otherLanguage(words: string, name: string | undefined): Piece {
  const named = name ?? '<PACKAGE>'
  if (/Cannot find (?:module|package) '/.test(words)) return { text: `Install ${named} where the program runs.`, command: `npm install ${named}` }
  if (/there is no package called/.test(words))
    return { text: `Install ${named} in the library of R that the job uses.`, command: `Rscript -e 'install.packages("${named}")'` }
  if (/not found in current path/.test(words))
    return { text: `Add ${named} to the project of Julia that the job uses.`, command: `julia -e 'using Pkg; Pkg.add("${named}")'` }
  return undefined
}
const safe = (name: string | undefined): string | undefined => (name !== undefined && /^[\w./+-]{1,80}$/.test(name) ? name : undefined)

/** The package that the message asks for. */
function asking(message: string, weight: number): Claim | undefined {
  const name = askedInstall(message)?.module ?? missingPackage(message)
  return { weight, ...(name === undefined ? {} : { facts: { module: name } }) }
}

export const missingDependency: EndKind = {
  kind: 'missing_dependency',
  stage: 'cause',
  severity: 'critical',
  claims: anyOf(
    // Python starts a program by its name, and PATH does not have it.
    ({ name, message, frames }) => {
      const program = /No such file or directory: '([\w.+-]{1,60})'/.exec(message)?.[1]
      return name === 'FileNotFoundError' && program !== undefined && /^_execute_child$|^Popen$/.test(frames.at(-1)?.name ?? '')
        ? { weight: WEIGHT.message + 0.1, facts: { module: program, pattern: 'program' } }
        : undefined
    },
    raises(/^install$/, WEIGHT.message - 0.5),
    says(/\bNo module named ['"]?([\w.-]{1,120})['"]?/, WEIGHT.message, module),
    says(/cannot import name ['"]?\w{1,80}['"]? from (?:partially initialized module )?['"]?([\w.]{1,120})['"]?/, WEIGHT.message, module),
    says(/cannot import name ['"]?(\w{1,80})['"]?/, WEIGHT.exception, module),
    says(/\b(lib[\w.+-]{1,80}\.so[\w.]{0,20}): cannot open shared object file/, WEIGHT.message, module),
    says(/error while loading shared libraries: ([\w.+-]{1,120}):/, WEIGHT.message, module),
    says(/(?:^|\/)([\w.+-]{1,120}\.so[\w.]{0,20}): undefined symbol/, WEIGHT.message, module),
    says(/symbol lookup error: (?:\S{0,300}\/)?([^\s/:]{1,120}): undefined symbol/, WEIGHT.message, module),
    says(/version [`'](?:GLIBC|GLIBCXX|CXXABI|GCC|OPENSSL)_[\w.]{1,16}' not found/, WEIGHT.message),
    says(/numpy\.\w{4,8} (?:size changed, may indicate|has the wrong size, try)/, WEIGHT.message),
    says(NUMPY_1, WEIGHT.message, () => ({ pattern: 'numpy_1' })),
    says(/DLL load failed(?: while importing (\w{1,80}))?/, WEIGHT.message, module),
    says(/^([\w./+-]{1,200}): (?:command )?not found$/, WEIGHT.message, programIn),
    says(
      /^(?:['"“«»„]?([\w.+-]{1,80})['"”»“]? ?(?:is not recognized as an internal|不是内部|ist entweder falsch|n'est pas reconnu en)|(?:The term|无法将) ?['‘“"]([^'’”"\n]{1,80})['’”"])/,
      WEIGHT.message,
      programIn,
    ),
    says(
      /\b(nvcc|hipcc|ninja|cmake|ffmpeg|git-lfs|rustc|cargo|protoc)(?: executable| compiler)? (?:was|is|could) not (?:be )?found\b/,
      WEIGHT.exception + 0.5,
      programIn,
    ),
    says(/^Command not found: ([\w./+-]{1,120})$|^Failed to spawn: `([\w./+-]{1,120})`/, WEIGHT.message, programIn),
    says(/module\(s\) are unknown: "([\w./+-]{1,80})"|locate a modulefile for '([\w./+-]{1,80})'/, WEIGHT.message, (match) => ({
      ...module(match),
      pattern: 'modulefile',
    })),
    says(/^[‘']([\w./+-]{1,120})[’']: No such file or directory$/, WEIGHT.message, programIn),
    says(/exec(?:: \\?"([^"\\]{1,200})\\?"| ([^\s:]{1,200}))?:? ?(?:stat \S{1,300}: )?(?:executable file not|no such file)/, WEIGHT.message, programIn),
    says(/exec format error|cannot execute binary file/i, WEIGHT.exception, () => ({ pattern: 'program' })),
    says(/([^\s:]{1,200}): bad interpreter|execve\(\): ([^\s:]{1,200}): No such file/, WEIGHT.message, programIn),
    ({ message }) => (/`pip install [^`\n]{1,200}`/.test(message) ? asking(message, WEIGHT.message) : undefined),
    says(/Tokenizer class (\w{1,60}) does not exist or is not currently imported/, WEIGHT.message),
    says(/(?:Could not find a version that satisfies the requirement|No matching distribution found for) ([\w.[\]-]{1,80})/, WEIGHT.message, module),
    says(/Cannot find (?:module|package) '([^'\n]{1,120})'/, WEIGHT.message, module),
    says(/there is no package called .?([\w.]{1,80})/, WEIGHT.message, module),
    says(/Package (\w{1,80}) not found in current path|Can't locate ([\w/:]{1,120})(?:\.pm)? in @INC/, WEIGHT.message, module),
    says(
      /(?:the )?package (?:for )?(\w[\w.-]{1,60})(?: \w{1,20})? (?:doesn't seem|seems) to be (?:not )?installed|(?:requires|needs) the (\w[\w.-]{1,60}) (?:library|package) (?:but|which)/,
      WEIGHT.message,
      module,
    ),
    ({ message }) =>
      /(?:please|you need to|must|try:?|run:?|install with:?|install it (?:with|via|by):?) (?:\w{1,20} ){0,3}[`'"]?pip install /i.test(message)
        ? asking(message, WEIGHT.exception + 0.5)
        : undefined,
    says(
      /(?:please|you need to|must|try:?|run:?) (?:\w{1,20} ){0,3}[`'"]?(?:conda|apt|apt-get) install [`'"]?([\w.[\]-]{1,60})/i,
      WEIGHT.exception + 0.5,
      module,
    ),
    ({ name, message }) => (/^(?:Import|ModuleNotFound)Error$/.test(name ?? '') ? asking(message, WEIGHT.exception + 0.1) : undefined),
    says(/[`'"]([A-Za-z][\w.-]{1,60})[`'"] (?:package |library |module )?is not installed\b/, WEIGHT.exception + 0.6, module),
    says(
      /\b(?:is|are) not installed\b|is required but (?:was )?not (?:found|installed)|Unable to import dependency (\w{1,60})/,
      WEIGHT.exception + 0.5,
      module,
    ),
    raises(
      /^(?:ImportError|(?:Module|Packages?|Command)NotFoundError|(?:Distribution|EnvironmentName|ResolvePackage)NotFound|(?:Contextual)?VersionConflict|ClassNotFoundException|NoClassDefFoundError|(?:Missing)?DependencyError|(?:LibMamba)?UnsatisfiableError|LoadLibraryError|CondaError)$/,
    ),
  ),
  title: ({ facts: { module: name, pattern } }) =>
    pattern === 'numpy_1'
      ? 'A module was compiled for NumPy 1'
      : name === undefined
        ? 'Something that the program needs is not installed'
        : `${name} is missing or of the wrong version`,
  verdict: (context) =>
    context.facts.pattern === 'numpy_1'
      ? saying(context, 'loaded a module that was compiled for NumPy 1', 'NumPy 2, which is installed, cannot run it.')
      : context.error?.name === 'install'
        ? saying(context, 'failed while packages were installed')
        : saying(
            context,
            `could not load ${context.facts.module ?? 'something that it needs'}`,
            TORCH_OWN.test(context.facts.module ?? '')
              ? 'It is part of PyTorch: what looks for it was built for another one.'
              : 'It is not installed where the job runs, or in another version.',
          ),
  remedies,
}
