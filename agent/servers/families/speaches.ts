// Speaches (faster-whisper-server before): speech to text and back; it lists the models in memory.
import * as z from 'zod/mini'
import { defineFamily } from '../family.ts'
import { readJson } from '../json-page.ts'
import { figures, type ServerFigures } from '../model.ts'

const loaded = z.object({ models: z.array(z.string()) })
/** An empty list means asleep: it drops a model that is not used. */
export function readLoaded(body: string): ServerFigures | undefined {
  const found = readJson(body, loaded)
  return found === undefined
    ? undefined
    : figures({ state: found.models.length === 0 ? 'sleeping' : 'ready', models: found.models.slice(0, 8).map((name) => name.slice(0, 200)) })
}

export const speaches = defineFamily({
  id: 'speaches',
  title: 'Speaches',
  command: /\b(?:speaches|faster_whisper_server)\.main:(?:create_app|app)\b/,
  image: /(?:^|\/)(?:speaches|faster-whisper-server)(?:[:@]|$)/,
  port: 8_000,
  proof: { path: '/api/ps', read: ({ body }) => readLoaded(body) },
  proofIsWeak: true,
  pages: [{ path: '/api/ps', rate: 'scrape', read: readLoaded }],
})
