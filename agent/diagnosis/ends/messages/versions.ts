// Why pip found no release of what was asked for, read from the releases that it lists: those fit this Python, this system and the index.
import { pipInstall } from '../../faults/remedies/pip.ts'
import type { Piece } from '../../faults/remedies/plan.ts'
import type { EndContext } from '../end-kind.ts'

const numbers = (version: string): readonly number[] =>
  version
    .replace(/\+.*$/, '')
    .split('.')
    .map((part) => Number.parseInt(part, 10) || 0)
/** Negative where the first is older. */
function compare(first: string, second: string): number {
  const [a, b] = [numbers(first), numbers(second)]
  for (let i = 0; i < Math.max(a.length, b.length); i += 1) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

type Wanted = { readonly title: string; readonly says: string | undefined; readonly remedies: readonly Piece[] }
export const PYTHON: Piece = {
  text: 'See which Python it is: version, 64 bit, kind of CPU.',
  command: 'python -c "import sys, platform; print(sys.version, platform.machine(), sys.maxsize > 2**32)"',
}
const otherPython = (what: string): Piece => ({
  text: `Use ${what} Python, in an environment of its own.`,
  command: 'conda create -y -n <NAME> python=<VERSION>',
})

/** `asked`: `==2.1.2`, or nothing; `list`: as pip prints it. */
export function wanted(name: string, asked: string, list: string, { situation }: EndContext): Wanted {
  const whole = `${name}${asked}`
  const version = /^(?:==|~=|>=?)([\d.]+(?:\+[\w.]+)?)/.exec(asked)?.[1]
  const offered = list === 'none' ? [] : list.split(/,\s*/).filter((one) => /^\d[\w.+!-]*$/.test(one) && !/(?:dev|rc|a|b)\d/.test(one))
  const [oldest, newest] = [offered[0], offered.at(-1)]
  const cuda = /\+((?:cu|rocm|cpu|xpu)[\d.]*)$/.exec(version ?? '')?.[1]
  if (cuda !== undefined && !offered.some((one) => one.includes('+')))
    return {
      title: `${whole} is not on PyPI`,
      says: `Builds for one CUDA (${cuda}) are only on PyTorch's own index${version !== undefined && oldest !== undefined && compare(version, oldest) < 0 ? `, and this Python has releases from ${oldest} on` : ''}.`,
      remedies: [
        { text: `Name the index that has it.`, command: pipInstall(situation, `${whole} --extra-index-url https://download.pytorch.org/whl/${cuda}`) },
        { text: 'If it is not found there either, this Python is too new or too old for it; else leave the build out of the version.' },
        PYTHON,
      ],
    }
  if (version !== undefined && oldest !== undefined && newest !== undefined) {
    const index = /download\.pytorch\.org\/whl\/([\w.]{2,12})/.exec(situation.text)?.[1]
    const where = index === undefined ? 'this Python and system' : `this Python on the index ${index}`
    const has = `For ${where} pip has ${oldest === newest ? oldest : `${oldest} to ${newest}`}.`
    if (compare(version, oldest) < 0)
      return {
        title: `${whole} is older than what there is for this Python`,
        says: has,
        remedies: [
          otherPython(`an older`),
          {
            text: `Or install a release for this Python, if the program allows it: ${oldest} is the oldest.`,
            command: pipInstall(situation, `'${name}>=${oldest.replace(/\+.*/, '')}'`),
          },
          PYTHON,
        ],
      }
    if (compare(version, newest) > 0)
      return {
        title: `${whole} is newer than what there is for this Python`,
        says: has,
        remedies: [
          index !== undefined && { text: `The index ${index} may have ended before it: name the one of a newer CUDA.` },
          otherPython('a newer'),
          { text: `Or install ${newest}, the newest for this one, if the program allows it.`, command: pipInstall(situation, `'${name}==${newest}'`) },
          PYTHON,
        ],
      }
    return {
      title: `There is no ${whole}`,
      says: has,
      remedies: [{ text: `Choose one of the releases that pip lists, or leave the version open.`, command: `python -m pip index versions ${name}` }, PYTHON],
    }
  }
  const offline = /Retrying \(Retry|Failed to establish a new connection|Temporary failure in name resolution|ProxyError|SSLError/.test(situation.text)
  return {
    title: offline ? `pip could not reach the index for ${name}` : `pip finds no ${name} for this Python`,
    says: offline ? undefined : 'No release has a file for this Python and system; or the index does not know the package.',
    remedies: [
      offline && {
        text: 'Let the host reach the index: name resolution, proxy (HTTPS_PROXY), certificate.',
        command: 'curl -sSI https://pypi.org/simple/ | head -n 1',
      },
      !offline && PYTHON,
      !offline && otherPython(name.startsWith('torch') ? 'a 64-bit' : 'another'),
      !offline && { text: 'See whether the name and the index are right.', command: `python -m pip index versions ${name}` },
    ],
  }
}

/** The last words of a build under uv, which are below [stdout] and [stderr]. */
export function uvBuild({ situation: { text } }: EndContext): string | undefined {
  const below = /\[(?:stderr|stdout)\]\n((?:(?![^\n]{0,20}hint:|[^\n]{0,20}\[std)[^\n]*\n?){1,60})/g
  const words = [...text.matchAll(below)].at(-1)?.[1]
  const whole = words?.split('\n').filter((line) => line.trim() !== '') ?? []
  // uv indents it: what its author wrote below is not.
  const after = /^\s/.test(whole[0] ?? '') ? whole.findIndex((line) => /^\S/.test(line)) : -1
  const lines = whole.slice(0, after < 0 ? whole.length : after).map((line) => line.trim())
  return lines.length === 0 ? undefined : lines.slice(-2).join(' ').slice(-240)
}
