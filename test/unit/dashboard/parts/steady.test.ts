// A steady list: the same array for as long as its members are the same, so that what draws it is not called again.
import { effect, signal } from '@preact/signals'
import { expect, test } from 'vitest'
import { steadyList } from '../../../../dashboard/src/parts/live/steady.ts'

test('is another list only when a member comes, goes, moves or has another key', () => {
  const source = signal<readonly { readonly key: string; readonly bytes: number }[]>([])
  const list = steadyList(
    () => source.value,
    ({ key }) => key,
  )
  let drawn = 0
  const stop = effect(() => {
    void list.value
    drawn++
  })
  const after = (...keys: readonly string[]): number => {
    source.value = keys.map((key) => ({ key, bytes: drawn }))
    return drawn
  }
  expect([after('a', 'b'), after('a', 'b'), after('b', 'a'), after('b', 'a'), after('b'), after('b', 'c'), after('b', 'c')]).toEqual([2, 2, 3, 3, 4, 5, 5])
  stop()
})
