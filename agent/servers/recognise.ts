// Which family a process belongs to: by its command line or title, its container's image, and last the port, which proves nothing by itself.
import type { Family } from './family.ts'
import * as registry from './families/index.ts'

export const FAMILIES: readonly Family[] = Object.values(registry)

export type Listener = {
  readonly argv: readonly string[]
  /** Of its container. */
  readonly image?: string
}
export type Recognised = {
  readonly family: Family
  /** By what; `image` and `port` need the proof. */
  readonly by: 'command' | 'image' | 'port'
}

/** A title written over the command line is padded with blanks, or is one word for all. */
const commandOf = (argv: readonly string[]): string => argv.join(' ').trim().slice(0, 4_096)

/** A process that such a server starts for each model, and that answers for it. */
export const isChildOf = ({ child }: Family, argv: readonly string[]): boolean => child?.command.test(commandOf(argv)) === true
export const isChild = (argv: readonly string[]): boolean => FAMILIES.some((family) => isChildOf(family, argv))

/** Engines, runners and workers of a server answer for nobody. */
export function isHelper(argv: readonly string[]): boolean {
  const command = commandOf(argv)
  return FAMILIES.some(({ helper }) => helper?.test(command) === true)
}

/** The family whose server this process is. */
export function recognise({ argv, image }: Listener, port: number): Recognised | undefined {
  const command = commandOf(argv)
  if (isHelper(argv)) return undefined
  const named = FAMILIES.find((family) => family.command.test(command))
  if (named !== undefined) return { family: named, by: 'command' }
  const imaged = image === undefined ? undefined : FAMILIES.find((family) => family.image?.test(image) === true)
  if (imaged !== undefined) return { family: imaged, by: 'image' }
  const ported = FAMILIES.find((family) => family.port === port && family.proofIsWeak !== true)
  return ported === undefined ? undefined : { family: ported, by: 'port' }
}
