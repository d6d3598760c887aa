// A file, folder or checkpoint that is not there.
import { WEIGHT, anyOf, openFrame, pathIn, raises, saying, says, type EndKind } from '../end-kind.ts'

const withPath = (match: RegExpExecArray): { path?: string } => {
  const path = pathIn(match.input)
  return path === undefined ? {} : { path }
}
/** `/models/x does not appear to have a file named config.json. Checkout …` */
const ofModel = ({ input }: RegExpExecArray): { path?: string } => {
  const [, folder, file] = /^(\S{1,303}) does not appear to have (?:a file|files) named \(?'?([\w.-]{1,100}\w)/.exec(input) ?? []
  return folder === undefined || file === undefined ? {} : { path: folder.includes('\\') ? `${folder}\\${file}` : `${folder.replace(/\/$/, '')}/${file}` }
}
export const fileMissing: EndKind = {
  kind: 'file_missing',
  stage: 'cause',
  severity: 'critical',
  claims: anyOf(
    says(/No such file or directory|cannot find the (?:file|path) specified|\bENOENT\b|kind: NotFound|Not a directory/, WEIGHT.errno, withPath),
    says(/(?:^|\s)(?:\/|\.{1,2}\/|~\/)[^\s'",]{1,300}(?: does not exist| not found| could not be found)/, WEIGHT.exception + 0.5, withPath),
    says(
      /(?:[Ff]ile|[Dd]irectory|[Ff]older|[Pp]ath|[Cc]heckpoint|[Dd]ataset)\b.{0,200}(?:does not exist|doesn't exist|not found|could not be found|is missing)|(?:[Cc]ould not|[Cc]ouldn't|[Cc]annot|[Cc]an't|[Uu]nable to|[Ff]ailed to) (?:find|open|locate)\b(?! shared memory object).{0,60}(?:file|director|folder|path|checkpoint|\/)|No (?:files?|checkpoints?|images?|such file)\b.{0,40}(?:found|exist)/,
      WEIGHT.exception,
      withPath,
    ),
    // Also behind a check of native code, which names the file as it was given
    says(/\b[Ff]ile not found: ([\w@%+=./~-]{3,300})$/, WEIGHT.exception + 0.5, ([, path]) => (path === undefined ? {} : { path })),
    ({ name, full }) => {
      if (
        name === undefined ||
        !/^(?:FileNotFoundError|NotADirectoryError|IsADirectoryError|NoSuchFileException|FileNotFoundException|FileNotFound)$/.test(name)
      )
        return undefined
      const path = pathIn(full) ?? /((?:\/|\.{1,2}\/|~\/|(?<![\w./-])\w[\w.-]{0,60}\/)[^\s'",:;]{1,400})/.exec(full)?.[1]
      return { weight: WEIGHT.errno, ...(path === undefined ? {} : { facts: { path } }) }
    },
    says(/^assert (?:os\.path\.(?:exists|isfile|isdir)|[\w.]{1,80}\.(?:exists|is_file|is_dir))\(/, WEIGHT.errno),
    // A program of the system, or the shell
    says(/^(?:[\w.-]{1,40}: )?([\w@%+=.~-]{1,200}\.\w{1,6}): No such file or directory$/, WEIGHT.errno + 0.1, ([, path]) =>
      path === undefined ? {} : { path },
    ),
    // Go, where it is what the program said last
    ({ name, full }) => {
      if (name !== 'message' || !/: no such file or directory\b/.test(full)) return undefined
      const path = pathIn(full)
      return { weight: WEIGHT.errno, ...(path === undefined ? {} : { facts: { path } }) }
    },
    raises(/^NoSuchKey$/),
    // transformers, of a folder that is there
    says(/^(?:\/|~|\.{1,2}\/|[A-Za-z]:[\\/])[^\s'",]{1,300} does not appear to have (?:a file|files) named/, WEIGHT.message + 0.5, ofModel),
    // transformers, of a folder without the weights
    says(
      /^Error no files? named ([\w.-]{1,100}\w),? (?:or [^\n]{1,200}?,? )?found in directory (\S{1,300}?)\.?$/m,
      WEIGHT.message + 0.5,
      ([, file = '', folder = '']) => ({ path: `${folder.replace(/\/$/, '')}/${file}` }),
    ),
    // Nextflow, of what its process should have written
    says(/^Missing output file\(s\) `(?:([^\s`*?[{]{1,200})`)?/, WEIGHT.message, ([, path]) => (path === undefined ? {} : { path })),
    // Kaldi
    says(/^Error opening input stream (?!-$)(?:["']?)([\w./-]{2,300})/, WEIGHT.exception + 0.5, ([, path]) => (path === undefined ? {} : { path })),
    // libsndfile, which does not say what the system said
    says(/^Error opening '[^'\n]{1,400}': System error/, WEIGHT.exception + 0.5, withPath),
  ),
  title: ({ facts: { path } }) => (path === undefined ? 'A file is missing' : `File not found: ${path}`),
  verdict: (context) => saying(context, `did not find ${context.facts.path ?? 'a file that it needs'}`),
  remedies: (context) => {
    const { path } = context.facts
    const folder = path !== undefined && /^[\w@%+=:,./~-]+$/.test(path) ? path.replace(/\/[^/]*$/, '') || '/' : undefined
    return [
      {
        text: `See what is there${folder === undefined ? '' : `: where the job runs, not where you are logged in`}.`,
        command: folder === undefined || !/^[/~.]/.test(folder) ? 'pwd; ls -la' : `ls -la ${folder}`,
      },
      path !== undefined &&
        !/^(?:[/~\\]|[A-Za-z]:[\\/])/.test(path) && {
          text: 'The path is relative: it depends on the folder in which the job was started. Use an absolute path, or start it there.',
        },
      (context.situation.programs.has('docker') || context.situation.programs.has('kubernetes')) && {
        text: 'In a container: mount the folder into it (docker run -v, a volume of the pod).',
      },
      openFrame(context),
    ]
  },
}
