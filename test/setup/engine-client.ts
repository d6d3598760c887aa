// Asks a test's own container engine, Docker or Podman: its image of a single program, its containers.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'

export const programPath = (name: string): string | undefined =>
  (process.env['PATH'] ?? '')
    .split(':')
    .map((directory) => join(directory, name))
    .find(existsSync)
/** Statically linked, so that it is a whole image by itself (Debian: busybox-static). */
export const BUSYBOX = programPath('busybox')

export type CreateOptions = {
  readonly name: string
  /** The client's own image unless another one is named. */
  readonly image?: string
  readonly command: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  readonly env?: readonly string[]
  readonly host?: Readonly<Record<string, unknown>>
  /** `docker run -t`: a terminal, whose log comes without frames. */
  readonly tty?: boolean
}
export type EngineClient = {
  /** Creates and starts a container; gives its id. */
  readonly run: (options: CreateOptions) => Promise<string>
  readonly call: (method: string, path: string, body?: unknown) => Promise<{ readonly status: number; readonly body: string }>
  /** Of an answer that says that it was done. */
  readonly must: (method: string, path: string, body?: unknown) => Promise<string>
  readonly removeAll: () => Promise<void>
}

/** `path`: what the engine imports an archive by; `folder`: where the image's files are laid out. */
export async function importImage({ must }: Pick<EngineClient, 'must'>, path: string, folder: string): Promise<void> {
  if (BUSYBOX === undefined) throw new Error('expected busybox (apt-get install busybox-static), found none')
  const bin = join(folder, 'bin')
  mkdirSync(bin, { recursive: true })
  copyFileSync(BUSYBOX, join(bin, 'busybox'))
  for (const applet of ['sh', 'sleep', 'dd', 'true', 'cat', 'yes', 'kill']) symlinkSync('busybox', join(bin, applet))
  const tar = execFileSync('tar', ['-C', folder, '-c', '.'], { maxBuffer: 64 * 1024 * 1024 })
  await must('POST', path, tar)
}

export function createEngineClient(socketPath: string, image: string): EngineClient {
  const call: EngineClient['call'] = async (method, urlPath, body) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
    const type = Buffer.isBuffer(body) ? 'application/x-tar' : 'application/json'
    const sent = request({ socketPath, method, path: urlPath, headers: body === undefined ? { Host: 'd' } : { Host: 'd', 'Content-Type': type } }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => (text += chunk))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body: text }))
      answer.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : Buffer.isBuffer(body) ? body : JSON.stringify(body))
    return await promise
  }
  const must: EngineClient['must'] = async (method, urlPath, body) => {
    const answer = await call(method, urlPath, body)
    if (answer.status >= 300) throw new Error(`${method} ${urlPath}: status ${answer.status} ${answer.body}`)
    return answer.body
  }
  return {
    call,
    must,
    async run({ name, image: other, command, labels, env, host, tty = false }) {
      const body = {
        Image: other ?? image,
        Cmd: command,
        Labels: labels ?? {},
        Env: env ?? [],
        Tty: tty,
        NetworkDisabled: host?.['NetworkMode'] === undefined,
        HostConfig: { NetworkMode: 'none', ...host },
      }
      const created: unknown = JSON.parse(await must('POST', `/containers/create?name=${name}`, body))
      const id = typeof created === 'object' && created !== null && 'Id' in created ? String(created.Id) : ''
      await must('POST', `/containers/${id}/start`)
      return id
    },
    async removeAll() {
      const all = await call('GET', '/containers/json?all=1').catch(() => undefined)
      for (const [, id] of all?.body.matchAll(/"Id":"([0-9a-f]{64})"/g) ?? []) await call('DELETE', `/containers/${id}?force=1`)
    },
  }
}
