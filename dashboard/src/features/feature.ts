// What a view of the dashboard is: a name in the address and in the navigation, and the code that draws it, loaded when it is first opened.
import type { ComponentType } from 'preact'

export type ViewProps = {
  /** What follows the view's name in the address: `['ID']` of `#/incidents/ID`. */
  readonly rest: readonly string[]
}
/** Its place: an entry of the navigation, or none of its own. */
type Place =
  | {
      /** Pressed after `g`. */
      readonly key: string
      readonly under?: never
    }
  | {
      readonly key?: never
      /** The view whose entry it belongs to. */
      readonly under: string
    }
export type View = Place & {
  /** In the address; `` is the overview. */
  readonly id: string
  readonly label: string
  readonly load: () => Promise<ComponentType<ViewProps>>
}
