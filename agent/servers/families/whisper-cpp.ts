// whisper.cpp's whisper-server: it reports whether its model is loaded; which one is in its command line.
import * as z from 'zod/mini'
import { defineFamily, type Known } from '../family.ts'
import { readJson } from '../json-page.ts'
import { figures, type ServerFigures } from '../model.ts'

const health = z.object({ status: z.string() })

/** `-m models/ggml-large-v3-q5_0.bin`: the file without its folder. */
function modelIn(argv: readonly string[]): string | undefined {
  const words = argv.length === 1 ? (argv[0] ?? '').split(' ') : argv
  const at = words.findIndex((word) => word === '-m' || word === '--model')
  return at < 0 ? undefined : words[at + 1]?.split('/').at(-1)?.slice(0, 200)
}

export function readHealth(body: string, { argv }: Pick<Known, 'argv'>): ServerFigures | undefined {
  const status = readJson(body, health)?.status
  if (status === undefined) return undefined
  const model = modelIn(argv)
  const quantization = model === undefined ? undefined : /-(q\d_[0-9k]\w*)\./i.exec(model)?.[1]
  return figures({ state: status === 'ok' ? 'ready' : 'loading', models: model === undefined ? undefined : [model], quantization })
}

export const whisperCpp = defineFamily({
  id: 'whisper.cpp',
  title: 'whisper.cpp',
  command: /(?:^|[\s/])whisper-server\b/,
  image: /(?:^|\/)whisper\.cpp(?:[:@]|$)/,
  port: 8_080,
  prefixFlag: '--request-path',
  proof: { path: '/health', read: ({ body }) => readHealth(body, { argv: [] }) },
  proofIsWeak: true,
  pages: [{ path: '/health', rate: 'scrape', read: readHealth }],
})
