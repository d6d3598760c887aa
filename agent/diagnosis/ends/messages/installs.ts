// What pip, uv and conda say when they cannot install: no file for this Python, an index without the build, releases that exclude each other.
import { pipInstall } from '../../faults/remedies/pip.ts'
import type { EndContext } from '../end-kind.ts'
import type { Known } from './message.ts'
import { ofRows, type Row } from './rows.ts'
import { PYTHON, uvBuild, wanted } from './versions.ts'

const OTHER_PYTHON = 'conda create -y -n <NAME> python=<VERSION>'
const flat = ({ situation, error }: EndContext): string => `${error?.message ?? ''} ${situation.text}`.replaceAll(/\s*│?\s+/g, ' ')

const ROWS: readonly Row[] = [
  [
    /externally-managed-environment/,
    'Install into an environment of its own: this Python belongs to the system.',
    'python3 -m venv .venv && . .venv/bin/activate',
    undefined,
    'pip may not change the Python of the system',
  ],
  [
    /'pkgutil' has no attribute 'ImpImporter'/,
    'Update pip and setuptools, and take a release of the package that is made for Python 3.12 (NumPy: 1.26); or use Python 3.11.',
    'python -m pip install --upgrade pip setuptools wheel',
    'Python 3.12 removed it, and an older setuptools, which the build asks for, still uses it.',
    'The package is too old for Python 3.12',
  ],
  [
    /does not appear to be a Python project|neither 'setup\.py' nor 'pyproject\.toml' found|is not a valid editable requirement/,
    'Start pip in the folder that has setup.py or pyproject.toml; where that folder is a git submodule and empty, fetch it.',
    'git submodule update --init --recursive; ls',
    undefined,
    'There is nothing to install in that folder',
  ],
  [
    /use_2to3 is invalid|'?extras_require'? must be a dictionary|invalid command 'bdist_wheel'/,
    'Use a newer release of the package; its old setup.py needs older tools (setuptools before 58 for use_2to3, before 66 for extras_require).',
    "python -m pip install 'setuptools<58' 'wheel<0.40'",
    undefined,
    "The package's setup.py is too old for the installed setuptools",
  ],
  [
    /[Pp]lease use pip ?<24\.1|invalid metadata: .{0,80}\.\*/,
    'The package has metadata that newer pips refuse: use pip 24.0 for it, or a newer release of the package.',
    "python -m pip install 'pip<24.1'",
    undefined,
    'The package has metadata that this pip refuses',
  ],
  [
    /PACKAGES DO NOT MATCH THE HASHES/,
    'Download it again without the cache (a download that broke off is the usual cause); behind a proxy or mirror see what it returns.',
    'python -m pip cache purge',
    undefined,
    'pip got another file than the one that it expected',
  ],
  [
    /Cannot uninstall '?([\w.-]{1,60})'?.{0,30}(?:distutils installed project|RECORD file)/i,
    'Install into an environment of its own: the old one belongs to the distribution. Or let pip put the new one beside it (--ignore-installed).',
    'python3 -m venv .venv && . .venv/bin/activate',
    undefined,
    'pip cannot replace a package of the distribution',
  ],
]

/** `A 1.0 depends on B<2`, as pip and uv list them. */
function conflict(context: EndContext): readonly string[] {
  const pip = [
    ...context.situation.text.matchAll(/^[ \t]{2,40}((?:The user requested (?:\(constraint\) )?|[\w.[\]-]{1,60} [\w.+!]{1,30} depends on )[^\n]{2,80})$/gm),
  ]
  const uv = [
    ...flat(context).matchAll(
      /\b([\w.[\]-]{1,60}(?:[=<>!~]=?[\w.+*,<>=!]{1,40})? depends on [\w.[\]-]{1,60}(?:\{[^}]{1,120}\})?[=<>!~]=?[\w.+*,<>=!]{1,40}|(?:you|your project) (?:require|depends on) [\w.[\]-]{1,60}[=<>!~]=?[\w.+*,<>=!]{1,40})/g,
    ),
  ]
  const plain = [...pip, ...uv].map(([, one = '']) =>
    one
      .trim()
      .replace(/[,.]+$/, '')
      .replaceAll(/\{[^}]{1,120}\}/g, ''),
  )
  return [...new Set(plain)].slice(0, 3)
}

export const INSTALLS: readonly Known[] = [
  ...ofRows(ROWS),
  {
    // https://docs.astral.sh/uv/concepts/projects/config/#augmenting-build-dependencies
    pattern: /Extra build requirement `([\w.-]{1,60})`/,
    title: (_, context) => `uv cannot match ${/requirement `([\w.-]{1,60})`/.exec(flat(context))?.[1]} of a build with that of the project`,
    says: (_, context) => {
      const name = /but `([\w.-]{1,60})` does not declare static metadata/.exec(flat(context))?.[1]
      return `match-runtime needs a package that says beforehand what it needs${name === undefined ? '' : `, and ${name} says it only when it is built`}.`
    },
    remedies: ([, requirement], context) => {
      const name = /but `([\w.-]{1,60})` does not declare static metadata/.exec(flat(context))?.[1] ?? '<PACKAGE>'
      return [
        {
          text: `Name the exact version in place of match-runtime, under [tool.uv.extra-build-dependencies]: ${name} = ["${requirement}==<VERSION>"], the one that the project itself has.`,
        },
        {
          text: `Or leave it out there, and build without isolation: no-build-isolation-package = ["${name}"] under [tool.uv]; ${requirement} must be installed first.`,
        },
      ]
    },
  },
  {
    pattern: /meson\.build:\d{1,5}:\d{1,4}: ERROR: (?:Unknown compiler\(s\): \[\['([\w+-]{1,20})'|)/,
    title: (_, { situation: { text } }) =>
      `pip builds ${/Project name: ([\w.-]{1,60})/.exec(text)?.[1] ?? 'a package'} from source, and it cannot be built here`,
    says: (_, { situation: { text } }) => {
      const release = /Project version: (\d[\w.]{0,20})/.exec(text)?.[1]
      return `There is no ready file${release === undefined ? '' : ` of release ${release}`} for this Python.`
    },
    remedies: ([, compiler], { situation }) => {
      const name = /Project name: ([\w.-]{1,60})/.exec(situation.text)?.[1] ?? '<PACKAGE>'
      return [
        {
          text: `Install a release of ${name} with a file for this Python, if the program allows it: leave its version open.`,
          command: pipInstall(situation, name, `--only-binary ${name}`),
        },
        { text: 'Or use the Python for which the requirements were written, in an environment of its own.', command: OTHER_PYTHON },
        compiler !== undefined &&
          situation.system !== 'windows' && {
            text: `Else install the compiler that the build asks for. On Debian and Ubuntu:`,
            command: `sudo apt-get install -y ${/fortran|flang/.test(compiler) ? 'gfortran' : 'build-essential'}`,
          },
      ]
    },
  },
  {
    pattern:
      /Could not find a version that satisfies the requirement ([\w.-]{1,60})(?:\[[\w,]{1,60}\])?((?:[=<>!~]=?[\w.+*,<>=!~]{1,40})?)[^\n]{0,200}?\(from versions: ([^)\n]{1,20000}?)(?:\)|…|$)/,
    title: ([, name = '', asked = '', list = ''], context) => wanted(name, asked, list, context).title,
    says: ([, name = '', asked = '', list = ''], context) => wanted(name, asked, list, context).says,
    remedies: ([, name = '', asked = '', list = ''], context) => wanted(name, asked, list, context).remedies,
  },
  {
    pattern: /No matching distribution found for ([\w.-]{1,60})(?:\[[\w,]{1,60}\])?((?:[=<>!~]=?[\w.+*,<>=!~]{1,40})?)/,
    title: ([, name = '', asked = ''], context) => wanted(name, asked, 'none', context).title,
    remedies: ([, name = '', asked = ''], context) => wanted(name, asked, 'none', context).remedies,
  },
  {
    pattern: /Package '([^'\n]{1,80})' requires a different Python: (\d[\w.]{0,12}) not in '([^'\n]{1,60})'/,
    title: ([, name, has]) => `${name} does not take Python ${has}`,
    remedies: ([, name, has, range]) => [
      { text: `Use a Python in ${range} (this is ${has}), or a release of ${name} for this Python.`, command: OTHER_PYTHON },
    ],
  },
  {
    pattern: /([\w.+-]{3,160}\.whl) is not a supported wheel on this platform/,
    title: 'The wheel is for another Python or system',
    remedies: ([, file = '']) => {
      const tag = /-(?:cp|py)(\d)(\d{1,2})\w{0,6}-\w{2,12}-([\w.]{3,60})\.whl$/.exec(file)
      return [
        { text: `Take the wheel whose name fits this Python and system${tag === null ? '' : `: this one is for Python ${tag[1]}.${tag[2]} on ${tag[3]}`}.` },
        PYTHON,
      ]
    },
  },
  {
    pattern: /^Failed to (?:download and )?build `([\w.-]{1,60})(?:==[\w.+]{1,20}|[ @][^`\n]{0,80})?`/,
    title: ([, name]) => `uv could not build ${name}`,
    says: (_, context) => {
      const said = uvBuild(context)
      return said === undefined ? undefined : `Its build said: "${said}".`
    },
    remedies: ([, name = ''], context) => [
      /\btorch\b|PyTorch/i.test(uvBuild(context) ?? '')
        ? {
            text: `uv builds ${name} in an environment of its own, without your PyTorch: build it without isolation, after torch and the tools of the build.`,
            command: `uv pip install torch setuptools wheel ninja packaging && uv pip install --no-build-isolation ${name}`,
          }
        : {
            text: `What the build said last is what counts: correct that, or take a release of ${name} with a ready wheel for this Python.`,
            command: `uv pip install --only-binary ${name} ${name}`,
          },
    ],
  },
  {
    // uv says in a sentence of several lines why.
    pattern: /No solution found when resolving dependencies|requirements are unsatisfiable/,
    title: 'uv finds no set of packages that fit together',
    says: (_, context) => {
      const why = conflict(context)
      return why.length < 2 ? undefined : `${why.join('; ')}.`
    },
    remedies: (_, context) => {
      const text = flat(context)
      const missing = /there is no version of ([\w.-]{1,60})(?:\{[^}]{1,120}\})?==([\w.]{1,20})\+([a-z]{2,4}[\d.]{1,6})/.exec(text)
      const tag = /([\w.-]{1,60})(?:[=<>!~]=?[\w.+*,<>=!]{1,60})? has no wheels with a matching ([\w ]{3,30}) tag \(e\.g\., `?(\w{2,40})/.exec(text)
      // What was asked for itself, not what something else needs.
      const own = tag !== null && new RegExp(`(?:you require|your project depends on) ${tag[1]?.replaceAll('.', '\\.')}[=<>~]`).test(text) ? tag[1] : undefined
      const minor = Number(/^cp3(\d{1,2})$/.exec(tag?.[3] ?? '')?.[1] ?? Number.NaN)
      const older = Number.isNaN(minor) ? undefined : `3.${minor - 1}`
      const absent = /([\w.-]{1,60}) was not found in the package registry/.exec(text)?.[1]
      // What one package asks for, and what was asked for beside it.
      const needs =
        /([\w.[\]-]{1,60}[=<>!~]=?[\w.+*,<>=!]{1,40}) depends on ([\w.-]{1,60})(?:\[[\w,]{1,40}\])?(?:\{[^}]{1,120}\})?((?:[=<>!~]=?)[\w.+*,<>=!]{1,40}) and (?:you require|your project depends on) ([\w.-]{1,60})([=<>!~]=?[\w.+*<>=!]{1,40})/.exec(
          text,
        )
      const clash = needs !== null && needs[2] === needs[4] ? needs : null
      const unseen =
        clash === null && missing === null && /extra-index-url|--index\b|find-links/.test(text)
          ? /there is no version of ([\w.-]{1,60})/.exec(text)?.[1]
          : undefined
      const python = /requested Python version \(([^)]{1,30})\) does not satisfy Python ?([<>=~!][\w.,<>=*]{1,30})/.exec(text)
      return [
        clash !== null && {
          text: `Ask for ${clash[2]}${clash[3]} in place of ${clash[5]}, or leave its version open: ${clash[1]} needs that one.`,
        },
        unseen !== undefined && {
          text: `uv takes a package from the first index that has its name: one of those that were named has ${unseen}, without this version. Let uv look in all of them, if you trust them all.`,
          command: 'export UV_INDEX_STRATEGY=unsafe-best-match',
        },
        missing !== null && {
          text: `Name the index that has the build ${missing[3]} of ${missing[1]}; PyPI has only ${missing[2]}.`,
          command: `uv pip install ${missing[1]}==${missing[2]} --index https://download.pytorch.org/whl/${missing[3]}`,
        },
        absent !== undefined && {
          text: `${absent} is not in the index that was named: add that index beside PyPI (--index) in place of it (--index-url, --default-index).`,
        },
        tag !== null &&
          (own === undefined
            ? {
                text: `${tag[1]} has no wheel for ${tag[3]} (${tag[2]} tag): use a Python and system for which it has one, or a release of what needs it without ${tag[1]}.`,
              }
            : {
                text: `${own} has no wheel for ${tag[3]} (${tag[2]} tag): use an older Python, or ask for a newer ${tag[1]}.`,
                ...(older === undefined ? {} : { command: `uv venv --python ${older}` }),
              }),
        python !== null && { text: `Raise requires-python of the project to ${python[2]}: it allows ${python[1]}, for which there is no release.` },
        clash === null &&
          unseen === undefined &&
          missing === null &&
          conflict(context).length > 1 && { text: 'Give up one of the two that exclude each other, or leave its version open so that uv chooses.' },
        { text: 'Let uv show its way to the conflict.', command: 'uv pip compile -v <REQUIREMENTS>' },
      ]
    },
  },
  {
    pattern: /ResolutionImpossible|these package versions have conflicting dependencies/,
    title: 'The packages exclude each other',
    says: (_, context) => {
      const why = conflict(context)
      return why.length === 0 ? undefined : `${why.join('; ')}.`
    },
    remedies: (_, context) => [
      { text: 'Leave the version of one of them open, so that pip chooses; then pin what it chose.' },
      {
        text: 'Or install the one that the job needs least with its own dependencies left out, and see whether it still works.',
        command: pipInstall(context.situation, '<PACKAGE>', '--no-deps'),
      },
    ],
  },
  {
    pattern: /PackagesNotFoundError|ResolvePackageNotFound|LibMambaUnsatisfiableError|UnsatisfiableError|Could not solve for environment specs/,
    title: 'conda finds no set of packages that fit together',
    says: (_, context) => {
      const why = [...context.situation.text.matchAll(/^[ \t]{0,40}- (?:package )?([\w.-]{2,80} requires [^\n,]{3,80}), but none/gm)].map(([, one = '']) => one)
      return why.length === 0 ? undefined : `${why.slice(0, 2).join('; ')}.`
    },
    remedies: (_, context) => {
      const { text } = context.situation
      const builds = /^[ \t]{1,40}- [\w.-]{1,60}==?[\w.]{1,30}=[\w.]{4,60}$/m.test(text)
      const lacking = [...text.matchAll(/nothing provides (?:requested )?([\w.:-]{2,60})/g)].map(([, name = '']) => name)
      const names = [...new Set(lacking)].filter((name) => !name.startsWith('__'))
      const apple = /osx-arm64|osx-64|\bmacOS\b|Mac ?Mini|Apple M\d/i.test(text)
      const arm = /aarch64|linux-aarch64/.test(text)
      const windows = context.situation.system === 'windows' || /\bwin-64\b/.test(text)
      const cuda = /(?:pytorch-cuda|cudatoolkit)[ =]{1,3}(\d{2})\.(\d)/.exec(text)?.slice(1, 3).join('')
      const release = /\bpytorch==?(\d\.\d{1,2}\.\d)\b/.exec(text)?.[1]
      const older = /python (?:>=3\.(\d{1,2}),<3\.\d{1,2}\.?\w*|3\.(\d{1,2})\.\*), but none of the providers/.exec(text)?.slice(1).find(Boolean)
      return [
        arm &&
          /cuda/i.test(text) && {
            text: 'These channels have no CUDA builds for this CPU (aarch64): install PyTorch by pip, which has them, or use a container of NVIDIA.',
          },
        builds && {
          text: 'Take the build strings (the part behind the second =) out of the file: they are those of another system. Keep name and version.',
          command: "sed -E 's/^( *- [^=]+==?[^=]+)=.*/\\1/' environment.yml > environment.plain.yml",
        },
        apple && /cuda/i.test(text) && { text: 'Take CUDA out of the file: there is none for macOS.' },
        lacking.some((name) => name.startsWith('__')) && {
          text: 'A name with two underscores is no package but a property of the system (__win: Windows, __cuda: a driver that conda sees): these channels have the files for another one only. Take them from conda-forge.',
        },
        names.length > 0 && {
          text: `No channel that was named has ${names.slice(0, 6).join(', ')} (in that version): search conda-forge for it, or install it by pip, where some have another name.`,
          command: `conda search -c conda-forge ${names[0]}`,
        },
        older !== undefined && {
          text: `The packages are for Python 3.${older}, and this environment has another: make one with it.`,
          command: `conda create -y -n <NAME> python=3.${older}`,
        },
        /pytorch|torch/i.test(text) && {
          text: `Install PyTorch by pip into the environment: it has had no conda packages of its own after 2.5.${windows && cuda === undefined ? ' On Windows name the index of your CUDA (cu126, cu128 …): without one pip installs it without CUDA.' : ''}`,
          command: `python -m pip install torch${release === undefined ? '' : `==${release}`} torchvision${cuda === undefined && !windows ? '' : ` --index-url https://download.pytorch.org/whl/${cuda === undefined ? '<CUDA>' : `cu${cuda}`}`}`,
        },
        { text: 'Make the environment with Python alone, then add the packages one after the other: the first that fails is the one.', command: OTHER_PYTHON },
      ]
    },
  },
]
