// The process in which a job is looked at: files of a container or a page of its memory may never come, so that the agent itself must not wait for them.
// Reads one request from standard input, to look at a job or to judge what several hosts found out about one, and writes one reply. With `ras HOST PORT` it asks NCCL's RAS from the network namespace that it runs in.
import { setPriority } from 'node:os'
import { messageOf } from '../../text/error.ts'
import { gather } from './gather.ts'
import { askStatus } from './ras.ts'
import { joinEvidence } from './join.ts'
import { joinRequest, lookRequest } from './request.ts'

const LOW_PRIORITY = 5

async function readAll(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks).toString('utf8')
}

try {
  // Below the agent, and yet its turn comes where data loaders fill all cores.
  setPriority(LOW_PRIORITY)
  const [what, host = '', port = ''] = process.argv.slice(2)
  if (what === 'ras') process.stdout.write(await askStatus(host, Number(port)))
  else {
    const value: unknown = JSON.parse(await readAll())
    const together = joinRequest.safeParse(value)
    const reply = together.success ? joinEvidence(together.data.join) : await gather(lookRequest.parse(value), import.meta.filename)
    process.stdout.write(JSON.stringify(reply))
  }
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`)
  process.exitCode = 1
}
