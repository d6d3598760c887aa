// Messages of what is below a program: the loader of libraries, streams of C++, folders that nobody made, packages that are only a folder.
import { installs, packageOf } from '../python-packages.ts'
import type { Known } from './message.ts'

/** A word of a log that may be in a command. */
const safe = (word: string): string | undefined => (/^[\w@%+=:,./~-]{1,200}$/.test(word) && !word.startsWith('-') ? word : undefined)

type Symbol = { readonly symbol: RegExp; readonly says: (library: string) => string; readonly text: string; readonly command: string }
/** Who defines a name that a library did not find, as its name tells. */
const SYMBOLS: readonly Symbol[] = [
  {
    // glibc 2.32, 2.33, 2.38, 2.30: the release notes of glibc.
    symbol: /^(?:__libc_single_threaded|__isoc23_\w{3,30}|f?l?stat(?:64|at)?|pthread_cond_clockwait)$/,
    says: (library) => `${library} was built on a newer distribution: this name is one of a newer glibc than the one here.`,
    text: 'Install a build of it for this distribution (an older release, or the one that conda has for it), or run the job in a newer image. glibc itself cannot be replaced.',
    command: 'ldd --version | head -n 1',
  },
  {
    symbol: /^iJIT_/,
    says: () => 'PyTorch was built against an older MKL: 2024.1 has this name no longer.',
    text: 'Install an MKL from before 2024.1.',
    command: "conda install -y 'mkl<2024.1'",
  },
]

export const SYSTEM: readonly Known[] = [
  {
    pattern: /(?:^|[\s/'"])([\w.+-]{1,120}\.so[\w.]{0,20}|(?<=symbol lookup error: (?:\.?\/[^\s:]{0,200})?)[\w.+-]{1,120}): undefined symbol: (\w{1,160})/,
    title: ([, library]) => `${library} does not fit the libraries here`,
    says: ([, library = '', symbol = '']) =>
      SYMBOLS.find((one) => one.symbol.test(symbol))?.says(library) ??
      `${library} is there, but no library that was loaded has the name ${symbol}: it was built for another version of one of them.`,
    remedies: ([, library = '', symbol = ''], { error }) => {
      const known = SYMBOLS.find((one) => one.symbol.test(symbol))
      if (known !== undefined) return [{ text: known.text, command: known.command }]
      const name = packageOf(error?.frames.at(-1)?.file)
      return [
        {
          text: `Reinstall ${name ?? 'the package that brings it'} together with what it needs, so that their versions fit.`,
          ...(name === undefined ? {} : { command: `python -m pip install --force-reinstall ${installs(name, { text: '' })}` }),
        },
        {
          text: `See which libraries it gets: one from another environment (LD_LIBRARY_PATH) comes before its own.`,
          command: `printenv LD_LIBRARY_PATH; ldd ${safe(library) === undefined ? '<LIBRARY>' : `<FOLDER>/${library}`}`,
        },
      ]
    },
  },
  {
    // The import found a folder without an __init__.py.
    pattern: /cannot import name ['"]?\w{1,80}['"]? from ['"]([\w.]{1,120})['"] \(unknown location\)/,
    title: ([, module]) => `${module} is an empty package here`,
    says: ([, module]) =>
      `Python found a folder called ${module?.replaceAll('.', '/')} without an __init__.py: what a removed or broken installation left, or a folder of your own of that name.`,
    remedies: ([, module = '']) => {
      const top = module.split('.')[0] ?? module
      const name = packageOf(`/site-packages/${top}/`) ?? top
      return [
        {
          text: 'See which folder it is. If it is beside the script, rename it or start the script from elsewhere.',
          command: `python -c "import ${module}; print(${module}.__path__)"`,
        },
        {
          text: `If it is in site-packages: remove it and install ${name} again.`,
          command: `python -m pip uninstall -y ${name}; python -m pip install ${name}`,
        },
      ]
    },
  },
  {
    pattern: /Parent directory (\S{1,300}) does not exist\.?/,
    title: ([, folder]) => `The folder ${folder} does not exist`,
    says: 'torch.save makes no folders.',
    remedies: ([, folder = '']) => [
      {
        text: 'Make it before the first save, in the program with os.makedirs(os.path.dirname(path), exist_ok=True); see also that its name is spelled as meant.',
        command: `mkdir -p ${safe(folder) ?? '<FOLDER>'}`,
      },
      !folder.startsWith('/') && { text: 'The path is relative: it counts from the folder in which the job was started.' },
    ],
  },
  {
    // write(2): the limit of the process, or the largest file that the file system takes.
    pattern: /\[Errno 27\] File too large/,
    title: 'A file grew beyond the largest size that is allowed',
    says: 'The limit is that of the process (ulimit -f) or that of the file system.',
    remedies: () => [
      { text: 'See the limit where the job starts; if it is unlimited, the file system sets it.', command: 'ulimit -f; df -hT .' },
      { text: 'Raise it before the job starts (ulimit -f unlimited, up to the hard limit), or write several smaller files.' },
    ],
  },
  {
    pattern: /basic_ios::clear(?:: iostream error)?\b/,
    when: ({ error }) => /failure|^terminate$/.test(error?.name ?? ''),
    says: 'A file could not be opened, read or written.',
    remedies: () => [
      {
        text: 'See that every file that it is given, and each that its configuration names, is there and may be read, and that it may write where it writes and has space there.',
        command: 'pwd; ls -la; df -h .',
      },
    ],
  },
]
