// How packages are installed where the program runs: pip, uv, the Python that ComfyUI for Windows brings along; not at all in a Nix store.
import type { Situation } from '../../situation/situation.ts'

export type Installer = 'pip' | 'uv' | 'embedded' | 'nix'

/** The store of Nix cannot be written. */
export function installerOf({ text, system }: Situation): Installer {
  if (/\/nix\/store\//.test(text)) return 'nix'
  if (/\buv (?:run|pip|sync|add)\b|\buv\.lock\b|[\\/]uv[\\/]builds-/.test(text)) return 'uv'
  return system === 'windows' && /python_embeded|ComfyUI_windows_portable/.test(text) ? 'embedded' : 'pip'
}

/** From the folder of the portable ComfyUI: pip itself would install into another Python. */
const EMBEDDED = '.\\python_embeded\\python.exe -m '

/** `pip install …` as that installer takes it (uv knows --force-reinstall too). `options` come before the packages. */
export function pipInstall(situation: Situation, packages: string, options = ''): string {
  const installer = installerOf(situation)
  const before = installer === 'uv' ? 'uv ' : installer === 'embedded' ? EMBEDDED : ''
  const command = `${before}pip install ${options}${options === '' ? '' : ' '}${packages}`
  // cmd.exe takes single quotes for a part of the name.
  return situation.system === 'windows' ? command.replaceAll("'", '"') : command
}
