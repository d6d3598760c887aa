// The packages that an error passed through, and how to see their versions.
import type { Piece } from '../../faults/remedies/plan.ts'
import type { EndContext } from '../end-kind.ts'
import { packageOf } from '../python-packages.ts'

/** The packages that the error passed through, the deepest first. */
export const packagesOf = ({ error }: EndContext): readonly string[] => [
  ...new Set((error?.frames ?? []).toReversed().flatMap(({ file }) => packageOf(file) ?? [])),
]
/** Where a name of a library does not fit: two versions, and how to see them. */
export function versions(context: EndContext): Piece {
  const packages = packagesOf(context).slice(0, 4)
  return packages.length === 0
    ? { text: 'Compare the installed versions with those that the code was written for (its README or requirements file).', command: 'python -m pip list' }
    : {
        text: `Compare the installed version${packages.length === 1 ? '' : 's'} of ${packages.join(', ')} with what the code was written for (its README or requirements file).`,
        command: `python -m pip list | grep -iE '${packages.map((name) => name.replaceAll(/[-_]/g, '[-_]')).join('|')}'`,
      }
}
