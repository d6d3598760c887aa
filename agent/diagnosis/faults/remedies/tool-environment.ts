// Programs that `uv tool` or pipx installed have environments of their own: the pip and the python of a shell are others.
import type { Remedy } from '../../../model/fault.ts'
import type { Situation } from '../../situation/situation.ts'

const TOOL = /((?:\/[\w.@+-]{1,80}){1,10}\/(?:(uv)\/tools|pipx\/venvs|pipx)\/([\w.-]{1,80}))\/lib\/python3/
const PIP = /(?<![\w/.-])(?:uv |python -m )?pip (install|uninstall|list)\b/g
const PYTHON = /(?<![\w/.-])python (?=-[cm] )/g

/** The same in that environment. uv makes no pip inside; pipx has a command for it. */
export function inTool(remedy: Remedy, { text }: Situation): Remedy {
  const [, folder, uv, name] = TOOL.exec(text) ?? []
  if (remedy.command === undefined || folder === undefined) return remedy
  const command = remedy.command
    .replace(PIP, (_, verb: string) => (uv === undefined ? `pipx runpip ${name} ${verb}` : `VIRTUAL_ENV=${folder} uv pip ${verb}`))
    .replace(PYTHON, `${folder}/bin/python `)
  return command === remedy.command ? remedy : { ...remedy, command }
}
