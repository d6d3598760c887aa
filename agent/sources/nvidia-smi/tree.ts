// The common shape of nvidia-smi's `-q` outputs, XML and indented text: named nodes in order, with text, children or both.

export type TreeNode = {
  readonly name: string
  /** The attribute `id` of `<gpu id="00000000:01:00.0">`, or the bus id after `GPU` in the indented form. */
  readonly id?: string
  readonly text: string
  readonly children: readonly TreeNode[]
}

export type Found = {
  readonly text: string
  /** The path ended early: this is the text of a container that would hold children if it could be read (`<remapped_rows>GPU is lost</remapped_rows>`). */
  readonly inherited: boolean
}

export function child(node: TreeNode, name: string): TreeNode | undefined {
  for (const candidate of node.children) if (candidate.name === name) return candidate
  return undefined
}

/** The text at a path such as `fb_memory_usage/total`; undefined when nothing of it is printed. */
export function textAt(node: TreeNode, path: string): Found | undefined {
  let at = node
  for (const name of path.split('/')) {
    const next = child(at, name)
    if (next === undefined) return at !== node && at.children.length === 0 && at.text !== '' ? { text: at.text, inherited: true } : undefined
    at = next
  }
  return at.children.length > 0 && at.text === '' ? undefined : { text: at.text, inherited: false }
}
