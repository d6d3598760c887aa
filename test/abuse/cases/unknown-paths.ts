// Paths that nobody serves: each is answered with an error object, none with a stack or a file.
import { startAgent } from '../../setup/agent.ts'
import type { AbuseCase } from '../abuse-case.ts'

const PATHS = ['/api/v1/nothing', '/api/v2/gpus', '/metrics/../../etc/passwd', '/api/v1/incidents/%00', `/api/v1/${'a'.repeat(4_000)}`]

export const unknownPaths: AbuseCase = {
  id: 'unknown-paths',
  area: 'http',
  fault: `GET of ${PATHS.length} paths that do not exist`,
  promised: 'each answer is 4xx, none holds a stack trace',
  hasShortForm: true,
  besideOthers: true,
  async run() {
    await using agent = await startAgent()
    const answers = await Promise.all(PATHS.map((path) => agent.get(path)))
    const wrong = answers.filter(({ status, text }) => status < 400 || status >= 500 || /\n +at /.test(text))
    return { held: wrong.length === 0, observed: `${answers.length - wrong.length} of ${answers.length} as promised` }
  },
}
