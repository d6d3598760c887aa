// The port's connections, and the files of the dashboard on it: what is refused, what is ended, and what nobody else can reach.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { GPU0, scrape, T } from './fixture.ts'
import { poll } from '../../setup/poll.ts'
import { get, rawGet, runServer } from './running.ts'

describe('the dashboard', () => {
  test('is served with its types, its caching and a strict policy, and nothing beside it', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'warpwatch-dashboard-'))
    await using running = await runServer({ http: { dashboardDir: join(directory, 'dist') } })
    const { url } = running
    const missing = await get(`${url}/`)
    expect([missing.status, missing.headers['content-type']]).toEqual([404, 'text/plain; charset=UTF-8'])
    expect(missing.text).toContain('npm run build')
    mkdirSync(join(directory, 'dist/assets'), { recursive: true })
    writeFileSync(join(directory, 'secret.txt'), 'secret')
    writeFileSync(join(directory, 'dist/index.html'), '<!doctype html>')
    writeFileSync(join(directory, 'dist/assets/main-B4x_2Kd9.js'), 'export {}')
    const page = await get(`${url}/`)
    expect([page.status, page.text, page.headers['content-type'], page.headers['cache-control']]).toEqual([
      200,
      '<!doctype html>',
      'text/html; charset=utf-8',
      'no-cache',
    ])
    expect(page.headers['content-security-policy']).toContain("default-src 'self'")
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'")
    expect(page.headers['content-security-policy']).not.toContain('unsafe')
    expect([page.headers['x-content-type-options'], page.headers['referrer-policy']]).toEqual(['nosniff', 'no-referrer'])
    const asset = await get(`${url}/assets/main-B4x_2Kd9.js`)
    expect([asset.headers['content-type'], asset.headers['cache-control']]).toEqual(['text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'])
    for (const path of ['/assets/..%2f..%2fsecret.txt', '/assets', '//etc/passwd']) expect((await rawGet(url, path)).split(' ')[1]).toBe('404')
    for (const path of ['/../secret.txt', '/%2e%2e/secret.txt', '/assets/../../secret.txt']) expect((await rawGet(url, path)).split(' ')[1]).toBe('400')
    rmSync(directory, { recursive: true })
  })
})

describe('a connection', () => {
  /** All that comes until the agent ends the connection. */
  const until = async (socket: Socket): Promise<string> => {
    let text = ''
    for await (const chunk of socket) text += String(chunk)
    return text
  }

  test('that sends more requests than it takes answers is ended; others, and one that waits for its answers, go on', async () => {
    await using running = await runServer()
    const { hostname, port } = new URL(running.url)
    const greedy = connect(Number(port), hostname)
    greedy.write('GET /api/v1/processes HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(1_000))
    await until(greedy).catch(() => '')
    await poll(async () => (await running.server.connections()) === 0, { what: 'no open connection' })
    const patient = connect(Number(port), hostname)
    for (let n = 0; n < 20; n++) {
      patient.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
      const [chunk]: unknown[] = await once(patient, 'data')
      expect(String(chunk)).toMatch(/^HTTP\/1\.1 200 /)
    }
    // Some at once are nobody's harm.
    const few = connect(Number(port), hostname)
    few.end('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(4))
    expect((await until(few)).match(/HTTP\/1\.1 200 /g)?.length).toBe(4)
    patient.destroy()
  })

  test('whose body is refused is ended, whatever it was refused for', async () => {
    await using running = await runServer()
    const { hostname, port } = new URL(running.url)
    for (const method of ['PUT', 'POST', 'GET']) {
      const socket = connect(Number(port), hostname)
      socket.write(`${method} /api/v1/gpus HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000000\r\n\r\n`)
      expect(await until(socket)).toMatch(/^HTTP\/1\.1 4(?:05|13) [^]*\r\nConnection: close\r\n/)
    }
  })

  test('all readers of a tick share the bytes of the rows, and the next tick has its own', async () => {
    await using running = await runServer()
    const first = await get(`${running.url}/api/v1/gpus`)
    expect((await get(`${running.url}/api/v1/gpus`)).text).toBe(first.text)
    running.latest.apply(scrape('gpu', GPU0['uuid'] ?? '', T + 1_000, []))
    expect((await get(`${running.url}/api/v1/gpus`)).text).toBe(first.text)
    running.tick(T + 1_000)
    expect((await get(`${running.url}/api/v1/gpus`)).text).not.toBe(first.text)
  })
})

describe('the port', () => {
  test('that is taken is told by number and with what to do', async () => {
    await using first = await runServer()
    const { port } = new URL(first.url)
    await expect(runServer({ http: { listen: `127.0.0.1:${port}` } })).rejects.toThrow(new RegExp(`port ${port} is in use already.*another port`))
  })

  test('closes though a reader holds its connection', async () => {
    const running = await runServer()
    const { hostname, port } = new URL(running.url)
    const socket = connect(Number(port), hostname)
    const ended = new Promise((resolve) => socket.on('close', resolve))
    await new Promise<void>((resolve) => socket.write('GET /metrics HTTP/1.1\r\n', () => resolve()))
    // The reader never ends it.
    await running.server.close()
    await ended
    await expect(get(`${running.url}/healthz`)).rejects.toThrow(/ECONNREFUSED/)
  })
})
