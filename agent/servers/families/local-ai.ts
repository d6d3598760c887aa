// LocalAI: which models its back ends hold; each back end is a process of its own that answers LocalAI alone.
import * as z from 'zod/mini'
import { defineFamily } from '../family.ts'
import { listOf, readJson, words } from '../json-page.ts'
import { figures, type ServerFigures } from '../model.ts'

const system = z.object({ backends: z.unknown(), loaded_models: listOf(z.object({ id: words })) })
export function readSystem(body: string): ServerFigures | undefined {
  const found = readJson(body, system)
  if (!Array.isArray(found?.backends)) return undefined
  return figures({ state: 'ready', models: found.loaded_models.flatMap(({ id }) => id ?? []).slice(0, 8) })
}

const version = z.object({ version: z.string() })

export const localAi = defineFamily({
  id: 'localai',
  title: 'LocalAI',
  command: /(?:^|[\s/])local-ai\b(?! (?:models|backends|worker|util)\b)/,
  helper: /\/backends\/\S+ .*--addr 127\.0\.0\.1:\d+/,
  image: /(?:^|\/)(?:local-?ai)(?:[:@]|$)/,
  port: 8_080,
  proof: { path: '/system', read: ({ body }) => readSystem(body) },
  proofIsWeak: true,
  pages: [
    { path: '/system', rate: 'scrape', read: readSystem },
    {
      path: '/version',
      rate: 'rare',
      read: (body) => {
        const found = readJson(body, version)
        return found === undefined ? undefined : { version: found.version.slice(0, 100) }
      },
    },
  ],
})
