// Are passwords and tokens written into compose files? Their values are never printed.
import { redact } from '../../../lib/redact.ts'
import { defineCheck, type Finding } from '../../definition.ts'
import type { Remedy } from '../../../model/fault.ts'
import { complainOf, eachService, passOf, upCommand, writeEnv } from '../../compose/look.ts'
import { byName } from '../../compose/merge.ts'
import { at, entriesOf, itemsOf, type Part, type Place } from '../../compose/part.ts'
import { isSecret } from '../../compose/secret-names.ts'

const literalOf = (part: Part): string => (part.kind === 'scalar' && part.literal !== null ? String(part.literal) : '')
const list = (part: Part | undefined): readonly Part[] => (part === undefined ? [] : part.kind === 'list' ? itemsOf(part) : [part])

const NEW: Remedy = { text: 'Where it was shared or committed, make a new one and revoke the old.' }
const FLAG = /^--?([a-z][\w.-]*)(?:=(.*))?$/i

/** A secret behind a flag that names one, or a token that is known by its form; what holds a dollar is a variable, of Compose or of a shell. */
function inArguments(part: Part | undefined): Part | undefined {
  const words = list(part).flatMap((item) =>
    literalOf(item)
      .split(/\s+/)
      .map((word) => ({ item, word })),
  )
  const found = words.find(({ word }, index) => {
    const [, flag, own] = FLAG.exec(word) ?? []
    const value = own ?? words[index + 1]?.word ?? ''
    if (flag !== undefined && !/^-|\$/.test(value) && isSecret(flag, value)) return true
    return !word.includes('$') && redact(word) !== word && flag === undefined
  })
  return found?.item
}

export const composeSecrets = defineCheck({
  id: 'compose-secrets',
  group: 'compose',
  title: 'no password or token is in plain text in a compose file',
  covers: [],
  run: async (around) =>
    await eachService(around, 'no service has settings that could be secrets', (service, project): readonly Finding[] => {
      const { name, env, part } = service
      const found: Finding[] = []
      const complain = (place: Place, message: string, ...remedies: readonly Remedy[]): void =>
        void found.push(complainOf('warn', service, place, message, remedies))
      const beside = (what: string): string =>
        `Put ${what} into the file .env beside ${project.files[0] ?? service.file} (chmod 600 .env, and keep it out of git).`
      for (const [key, { literal, file, line }] of env) {
        if (literal === undefined || !isSecret(key, literal)) continue
        complain(
          { file, line },
          `the value of ${key} is in plain text: whoever sees the file, its history in git, or docker inspect, has it`,
          { text: beside(`a line with ${key} and its value`) },
          writeEnv(service, project, 'Leave only the name here: Compose takes the value from .env.', key),
          NEW,
        )
      }
      const args = at(part, 'build', 'args')
      for (const [key, own] of entriesOf(args === undefined ? undefined : byName(args))) {
        if (!isSecret(key, literalOf(own))) continue
        complain(
          own,
          `the value of the build argument ${key} is in plain text, and stays in the history of the image`,
          {
            text: 'Let the build mount it instead of taking it as an argument: build.secrets here, RUN --mount=type=secret in the Dockerfile (https://docs.docker.com/build/building/secrets).',
          },
          NEW,
        )
      }
      for (const key of ['command', 'entrypoint']) {
        const place = inArguments(at(part, key))
        if (place === undefined) continue
        complain(
          place,
          `a password or token is in plain text in its ${key}: every user of this host can read it there too (ps)`,
          { text: beside('it, under a name such as API_KEY,') },
          {
            text: `Write \${API_KEY} in its place; better, let the program read it from its environment, so that ps does not show it (vLLM: VLLM_API_KEY, Hugging Face: HF_TOKEN, Jupyter: JUPYTER_TOKEN). Then: ${upCommand(project, name)}`,
          },
          NEW,
        )
      }
      if (found.length > 0) return found
      return env.size === 0 && args === undefined && at(part, 'command') === undefined ? [] : [passOf(service, 'none is in plain text')]
    }),
})
