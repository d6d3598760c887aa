// What the browser keeps for this page beyond a reload: one object of JSON under a name. Without storage it is forgotten.
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value)

export type Stored = { readonly load: () => Readonly<Record<string, unknown>>; readonly save: (value: object) => void }

export const stored = (name: string): Stored => ({
  load() {
    try {
      const value: unknown = JSON.parse(localStorage.getItem(name) ?? '{}')
      return isRecord(value) ? value : {}
    } catch {
      return {} // storage switched off, or someone else's text
    }
  },
  save(value) {
    try {
      localStorage.setItem(name, JSON.stringify(value))
    } catch {
      // as above, or full
    }
  },
})
