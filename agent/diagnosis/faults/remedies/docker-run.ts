// A container started again with one more option: the command of the text itself, where it can be repeated as it is.
import type { Situation } from '../../situation/situation.ts'

const COMMAND = /(?:^|[\s`$#>])((?:sudo )?(?:docker|podman) run [^\n`]{6,500}?)`?\s*$/gm
/** Nothing that a shell would join, redirect or split; a secret is not repeated. */
const PLAIN = /^[\w\s/:.$(){}=,@+-]+$/
const SECRET = /token|secret|passw|api_?key|hf_\w{8}/i

/** `docker run --shm-size=8g IMAGE`, or the whole command of the text with the options in it. */
export function dockerRun(options: string, { text, subject }: Situation): string {
  const names = options.match(/--[\w-]+/g) ?? []
  for (const [, command = ''] of text.matchAll(COMMAND))
    if (
      PLAIN.test(command) &&
      !SECRET.test(command) &&
      subject.image !== undefined &&
      command.includes(` ${subject.image}`) &&
      !names.some((name) => command.includes(name))
    )
      return command.trim().replace(/\b(docker|podman) run\b/, `$1 run ${options}`)
  return `docker run ${options} ${subject.image ?? '<IMAGE>'}`
}
