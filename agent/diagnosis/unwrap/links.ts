// The links that VS Code and Colab put around files and lines of a notebook's traceback, as Markdown copies them.
import type { Unwrap } from './json.ts'

const TARGET = String.raw`\]\((?:https:\/\/file\+\.vscode-resource|vscode-notebook-cell:)`
const LINK = new RegExp(String.raw`\[([^\]\n]{1,300})${TARGET}[^)\n]{0,800}\)`, 'g')
const IS_LINKED = new RegExp(TARGET)

export const linkedLines = (sample: readonly string[]): Unwrap | undefined =>
  sample.some((line) => IS_LINKED.test(line)) ? (line) => line.replace(LINK, '$1') : undefined
