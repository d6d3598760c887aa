// Reads the plain text of `nvidia-smi -q` into the same tree as the XML: names in lower case, nesting by indentation.
import type { TreeNode } from './tree.ts'

type Open = { readonly name: string; readonly id?: string; readonly text: string; readonly children: TreeNode[]; readonly indent: number }

const MAX_LINES = 200_000

/**
 * `    FB Memory Usage` opens a group, `        Total                 : 81920 MiB` is a value; `GPU 00000000:01:00.0` at the margin opens a GPU.
 * The values of a process follow one another at one level (GPU instance, compute instance, process id) and its details hang under the process id.
 */
export function readIndented(text: string): TreeNode {
  const root: Open = { name: 'nvidia_smi_log', text: '', children: [], indent: -1 }
  const stack: Open[] = [root]
  let lines = 0
  for (const raw of text.split('\n')) {
    if (++lines > MAX_LINES) break
    const line = raw.trimEnd()
    const name = line.trimStart()
    if (name === '' || name.startsWith('====')) continue
    const indent = line.length - name.length
    while (stack.length > 1 && (stack.at(-1)?.indent ?? -1) >= indent) stack.pop()
    const parent = stack.at(-1) ?? root
    const gpu = indent === 0 ? /^GPU\s+([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])$/.exec(name) : null
    // The colon is in its own column with blanks around it; a name or a value may contain others.
    const colon = name.search(/\s:(\s|$)/)
    const node: Open =
      gpu?.[1] === undefined
        ? {
            name: (colon < 0 ? name : name.slice(0, colon)).trim().toLowerCase(),
            text: colon < 0 ? '' : name.slice(colon + 2).trim(),
            children: [],
            indent,
          }
        : { name: 'gpu', id: gpu[1], text: '', children: [], indent }
    parent.children.push(node)
    stack.push(node)
  }
  return root
}
