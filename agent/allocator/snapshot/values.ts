// The plain values that a pickle may hold: as they are read, and as they are given.
export type PickleDict = { readonly [key: string]: PickleValue }
export type PickleValue = null | boolean | number | bigint | string | PickleDict | readonly PickleValue[]

export type Item = null | boolean | number | bigint | string | Bare | Item[]

/** Dicts without a prototype chain, so that a key such as __proto__ is a key like any other; V8 keeps them compact, unlike Object.create(null). */
export class Bare {
  [key: string]: Item
}
Object.setPrototypeOf(Bare.prototype, null)
Reflect.deleteProperty(Bare.prototype, 'constructor')
