// The dashboard's files, as the build left them in one directory. Only names found there are served, so no path can lead out of it.
import { readFile, readdir } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'

export type StaticFile = { readonly body: Buffer; readonly contentType: string; readonly cacheControl: string }
export type StaticFiles = {
  /** `path` as in the URL, `/` for the page itself; undefined when there is no such file. */
  readonly get: (path: string) => Promise<StaticFile | undefined>
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
}

/** Nothing from elsewhere, nothing inline, in no frame. */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
}

export const NOT_BUILT = `The dashboard is not built here.

In a checkout: npm run build (npm start does it by itself), then load this page again.
Meanwhile: /metrics for Prometheus, /api/v1/gpus for JSON, /api/v1/openapi.json for the description of the API.
`

/** Vite puts a hash of the content into the names under assets/, so such a file never changes. */
const HASHED = /^\/assets\/.+-[\w-]{8,}\.\w+$/

export function createStaticFiles(directory: string): StaticFiles {
  let names: ReadonlySet<string> = new Set()
  const list = async (): Promise<void> => {
    try {
      const entries = await readdir(directory, { recursive: true, withFileTypes: true })
      const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
      names = new Set(paths.map((path) => path.slice(directory.length).split(sep).join('/')))
    } catch {
      names = new Set() // no such directory: not built
    }
  }
  return {
    async get(path) {
      const name = path === '/' ? '/index.html' : path
      if (!names.has(name)) await list() // built, or rebuilt, since the last look
      if (!names.has(name)) return undefined
      const contentType = CONTENT_TYPES[extname(name)] ?? 'application/octet-stream'
      const cacheControl = HASHED.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache'
      return { body: await readFile(join(directory, name)), contentType, cacheControl }
    },
  }
}
