// The runbooks over HTTP: the pages of the repository as they are, readable in a browser, without a token, and nothing beside them.
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { get, runServer } from './running.ts'

const folder = join(import.meta.dirname, '../../../alerts/runbooks')

describe('runbooks', () => {
  test('each page is served as it is', async () => {
    await using running = await runServer()
    for (const name of readdirSync(folder)) {
      const { status, text, headers } = await get(`${running.url}/runbooks/${name.slice(0, -'.md'.length)}`)
      expect([status, text]).toEqual([200, readFileSync(join(folder, name), 'utf8')])
      expect([headers['content-type'], headers['x-content-type-options']]).toEqual(['text/markdown; charset=utf-8', 'nosniff'])
    }
  })

  test('a browser gets a type that it shows', async () => {
    await using running = await runServer()
    const { headers, text } = await get(`${running.url}/runbooks/xid`, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' })
    expect([headers['content-type'], headers['vary']]).toEqual(['text/plain; charset=utf-8', 'Accept, Accept-Encoding'])
    expect(text).toContain('# `xid`: ')
  })

  test('the list names each page', async () => {
    await using running = await runServer()
    const { status, text } = await get(`${running.url}/runbooks`)
    expect(status).toBe(200)
    expect(Array.from(text.matchAll(/\]\(\/runbooks\/([a-z0-9_]+)\): \S/g), ([, kind]) => `${kind}.md`).sort()).toEqual(readdirSync(folder).sort())
  })

  test('the list names a kind with a digit', async () => {
    const pages = mkdtempSync(join(tmpdir(), 'warpwatch-runbooks-'))
    onTestFinished(() => rmSync(pages, { recursive: true }))
    // The file must be that of a kind; the list shows what its heading says.
    writeFileSync(join(pages, 'xid.md'), '# `nvlink5_errors`: Title\n\nWhat it is.\n')
    await using running = await runServer({ http: { runbooksDir: pages } })
    expect((await get(`${running.url}/runbooks`)).text).toContain('- [`nvlink5_errors`](/runbooks/nvlink5_errors): Title')
  })

  test('needs no token, as it tells nothing about the host', async () => {
    await using running = await runServer({ http: { token: 'secret-of-16-bytes' } })
    expect((await get(`${running.url}/runbooks/cuda_oom`)).status).toBe(200)
    expect((await get(`${running.url}/api/v1/incidents`)).status).toBe(401)
  })

  test('what is no kind is refused with the nearest one; nothing leads out of the folder', async () => {
    await using running = await runServer()
    const wrong = await get(`${running.url}/runbooks/cuda_om`)
    expect([wrong.status, wrong.text.includes('cuda_oom')]).toEqual([404, true])
    for (const path of ['/runbooks/..%2f..%2fpackage', '/runbooks/%2e%2e/README', '/runbooks/cuda_oom.md', '/runbooks/'])
      expect([path, (await get(running.url + path)).status]).toEqual([path, 404])
  })

  test('without the pages it is said how they come', async () => {
    await using running = await runServer({ http: { runbooksDir: '/nonexistent' } })
    const { status, text } = await get(`${running.url}/runbooks`)
    expect([status, text.includes('npm run build')]).toEqual([404, true])
  })
})
