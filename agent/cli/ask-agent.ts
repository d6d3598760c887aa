// One request of a command to the agent on this host, without fetch: loading it (undici) takes a third of the CPU time of a short command.

/** An import of node:http by an ES module reads all that it exports, and one of those getters loads undici. */
const { request } = process.getBuiltinModule('node:http')

export type AgentRequest = {
  readonly method?: 'GET' | 'POST' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly withinMs: number
}
export type AgentAnswer = { readonly status: number; readonly text: string }

/** Rejects with Node's error where nobody answers in time. */
export async function askAgent(url: string, { method = 'GET', headers = {}, body, withinMs }: AgentRequest): Promise<AgentAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<AgentAnswer>()
  const late = setTimeout(() => sent.destroy(new Error(`no answer within ${withinMs / 1_000} s`)), withinMs)
  const sent = request(url, { method, headers, agent: false }, (answer) => {
    let text = ''
    answer.setEncoding('utf8')
    answer.on('data', (chunk: string) => (text += chunk))
    answer.on('end', () => resolve({ status: answer.statusCode ?? 0, text }))
    answer.on('error', reject)
  })
  sent.on('error', reject)
  sent.end(body)
  try {
    return await promise
  } finally {
    clearTimeout(late)
  }
}
