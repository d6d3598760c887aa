// What a compiler of C++ or CUDA said first, in the lines around the error that only says that it failed.
import type { EndContext } from './end-kind.ts'

/** A compiler of C++ or CUDA ran. */
export const builds = ({ error }: EndContext): boolean =>
  error?.name === 'compiler' ||
  /ninja|nvcc|\bg\+\+|\bgcc|\bld\b|building extension|compiling objects|cpp_extension|CUDA_HOME|hipcc|Failed building|failed with exit/i.test(
    `${error?.message}\n${error?.tail}`,
  )
/** Ninja itself: a file that it cannot find, or may not name. */
const ninjaSaid = (text: string): string | undefined => /(?:^|\n)\s{0,12}ninja: error: (?:Stat\([^\n]{1,600}\): )?([^\n]{5,300})/.exec(text)?.[1]
export const compilerSaid = (context: EndContext): string | undefined =>
  builds(context)
    ? (/(?:^|\n)[^\n]{1,200}?(?::\d{1,6}|\(\d{1,6}\)): (?:fatal )?error:? ([^\n]{5,160})/.exec(context.situation.text)?.[1]?.replace(/^#error\W{1,6}/, '') ??
      ninjaSaid(context.situation.text))
    : undefined
