// What a view of the dashboard is: a name in the address and in the navigation, and the code that draws it, loaded when it is first opened.
import type { ComponentType } from 'preact'

export type ViewProps = {
  /** What follows the view's name in the address: `['ID']` of `#/incidents/ID`. */
  readonly rest: readonly string[]
}
export type View = {
  /** In the address; `` is the overview. */
  readonly id: string
  readonly label: string
  /** Pressed after `g`; absent where `under` is there. */
  readonly key?: string
  /** It has no entry of its own in the navigation but belongs to that view's. */
  readonly under?: string
  readonly load: () => Promise<ComponentType<ViewProps>>
}
