// The open snapshot file, kept by this browser so that it survives a reload of the tab. Each tab has its own; a new tab begins without one.
const [DATABASE, STORE, KEY] = ['warpwatch', 'snapshot', 'last']
const TAB = 'warpwatch.snapshot'
/** A larger one is dropped again sooner than it is copied. */
const MOST_BYTES = 256 * 2 ** 20

type Kept = { readonly tab: string; readonly file: File }
const isKept = (value: unknown): value is Kept =>
  typeof value === 'object' && value !== null && 'tab' in value && typeof value.tab === 'string' && 'file' in value && value.file instanceof File

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error ?? new Error('indexedDB: the request failed')))
  })
}

async function inStore<T>(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const opening = indexedDB.open(DATABASE, 1)
  opening.addEventListener('upgradeneeded', () => opening.result.createObjectStore(STORE))
  const database = await answer(opening)
  try {
    return await answer(ask(database.transaction(STORE, mode).objectStore(STORE)))
  } finally {
    database.close()
  }
}

/** Without storage, or where it is full, the file is forgotten with the page. */
async function orNothing<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch {
    return undefined
  }
}

export const keepSnapshot = (file: File): Promise<unknown> =>
  orNothing(async () => {
    if (file.size > MOST_BYTES) return forgetSnapshot()
    const tab = crypto.getRandomValues(new Uint32Array(2)).join('-')
    await inStore('readwrite', (store) => store.put({ tab, file } satisfies Kept, KEY))
    sessionStorage.setItem(TAB, tab)
    return undefined
  })

/** The file that this tab had open. */
export const keptSnapshot = (): Promise<File | undefined> =>
  orNothing(async () => {
    const tab = sessionStorage.getItem(TAB)
    if (tab === null) return undefined
    const kept = await inStore('readonly', (store): IDBRequest<unknown> => store.get(KEY))
    return isKept(kept) && kept.tab === tab ? kept.file : undefined
  })

export const forgetSnapshot = (): Promise<unknown> =>
  orNothing(async () => {
    if (sessionStorage.getItem(TAB) === null) return
    sessionStorage.removeItem(TAB)
    await inStore('readwrite', (store) => store.delete(KEY))
  })
