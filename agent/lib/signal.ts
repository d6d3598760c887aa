// A value that notifies its watchers when it changes.

export type Signal<T> = {
  readonly get: () => T
  readonly set: (value: T) => void
  /** Calls at once with the present value and again at each change; returns how to stop. */
  readonly watch: (watcher: (value: T) => void) => () => void
}

export function createSignal<T>(initial: T): Signal<T> {
  let value = initial
  const watchers = new Set<(value: T) => void>()
  return {
    get: () => value,
    set(next) {
      if (next === value) return
      value = next
      for (const watcher of watchers) watcher(next)
    },
    watch(watcher) {
      watchers.add(watcher)
      watcher(value)
      return () => watchers.delete(watcher)
    },
  }
}
