// Where engines are looked for, and two names of one socket being one engine.
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createEngines } from '../../../agent/sources/containers/engines.ts'
import { candidateSockets, socketIdentity } from '../../../agent/sources/containers/engine-sockets.ts'
import { poll } from '../../setup/poll.ts'
import { idOf, inspected, listed, serveContainers, startEngineServer } from './engine-server.ts'
import type { EngineServer } from './engine-server.ts'

let directory: string
let server: EngineServer
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'warpwatch-sockets-'))
  server = await startEngineServer()
})
afterEach(async () => {
  await server.close()
  rmSync(directory, { recursive: true, force: true })
})

describe('engine sockets', () => {
  test('DOCKER_HOST comes first, then the usual ones, then those of the user', () => {
    const found = candidateSockets({ DOCKER_HOST: 'unix:///run/my.sock', XDG_RUNTIME_DIR: '/run/user/1000' })
    expect(found.slice(0, 5)).toEqual([
      '/run/my.sock',
      '/var/run/docker.sock',
      '/run/podman/podman.sock',
      '/run/user/1000/docker.sock',
      '/run/user/1000/podman/podman.sock',
    ])
    expect(new Set(found).size).toBe(found.length)
    expect(candidateSockets({ DOCKER_HOST: 'tcp://10.0.0.1:2375' })[0]).toBe('/var/run/docker.sock')
  })

  test('a link to a socket is the same socket; a file is none', () => {
    symlinkSync(server.socketPath, join(directory, 'link.sock'))
    writeFileSync(join(directory, 'file.sock'), '')
    expect(socketIdentity(join(directory, 'link.sock'))).toBe(socketIdentity(server.socketPath))
    expect(socketIdentity(server.socketPath)).toMatch(/^\d+:\d+$/)
    expect(socketIdentity(join(directory, 'file.sock'))).toBeUndefined()
    expect(socketIdentity(join(directory, 'none.sock'))).toBeUndefined()
  })

  test('several engines at once: one that fails leaves the other, and each is named in its gap', async () => {
    const id = idOf('a')
    server.handle = serveContainers(new Map([[id, { list: listed(id, 'web'), inspect: inspected(id, 'web') }]]))
    const missing = join(dirname(server.socketPath), 'missing.sock')
    const names: string[] = []
    const engines = createEngines({
      sockets: [missing, server.socketPath],
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      onContainer: (socketPath, { identity }) => void names.push(`${identity.name} of ${socketPath}`),
      onGone: () => undefined,
      onEvent: () => undefined,
      onState: () => undefined,
    })
    try {
      await poll(() => engines.settled(), { what: 'both engines to answer or fail' })
      expect(names).toEqual([`web of ${server.socketPath}`])
      expect(engines.gaps(true)).toMatchObject([{ metric: 'containers', labels: { engine: missing }, reason: 'not_supported' }])
      expect([engines.answers(missing), engines.answers(server.socketPath), engines.answers(undefined), engines.anyAnswers()]).toEqual([
        false,
        true,
        false,
        true,
      ])
    } finally {
      await engines.stop()
    }
  })
})
