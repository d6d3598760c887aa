// JSON pages of strangers: each field is read for itself, so that an odd one does not lose the others.
import * as z from 'zod/mini'
import { catch as orElse } from 'zod/mini'

/** A number, also where a server writes it as text. */
const numeric = z.union([
  z.number(),
  z.pipe(
    z.string().check(z.regex(/^-?\d{1,18}(\.\d+)?$/)),
    z.transform((text: string) => Number(text)),
  ),
])
export const amount = orElse(z.optional(numeric), undefined)
/** Text of a bounded length; "null" is how two servers spell that there is none. */
export const words = orElse(
  z.optional(
    z.pipe(
      z.string(),
      z.transform((text: string) => (text === '' || text === 'null' ? undefined : text.slice(0, 200))),
    ),
  ),
  undefined,
)
export const flag = orElse(z.optional(z.boolean()), undefined)
const MAX_ITEMS = 256
/** Items that do not fit are left out. */
export const listOf = <T extends z.core.$ZodType>(item: T) =>
  z.pipe(
    orElse(z.array(z.unknown()), []),
    z.transform((items: unknown[]) =>
      items.slice(0, MAX_ITEMS).flatMap((one): z.output<T>[] => {
        const parsed = z.safeParse(item, one)
        return parsed.success ? [parsed.data] : []
      }),
    ),
  )
export const part = <T extends z.core.$ZodType>(item: T) => orElse(z.optional(item), undefined)

/** undefined: no JSON, or of another shape. */
export function readJson<T extends z.core.$ZodType>(body: string, schema: T): z.output<T> | undefined {
  try {
    const parsed = z.safeParse(schema, JSON.parse(body))
    return parsed.success ? parsed.data : undefined
  } catch {
    return undefined
  }
}
