// The kernel's log since boot, as far back as it reaches: through dmesg, else through the journal.
import { kernelLine } from '../../text/line-prefix.ts'
import { commandProblem, type RunCommand } from './run-command.ts'

export type KernelLine = { readonly text: string; /** Seconds after boot. */ readonly at: number }
export type KernelLines = { readonly lines: readonly KernelLine[] } | { readonly problem: string }

const parse = (text: string): readonly KernelLine[] => text.split('\n').flatMap((line) => kernelLine(line) ?? [])

export async function readKernelLines(run: RunCommand): Promise<KernelLines> {
  const options = { maxBytes: 16 * 2 ** 20 }
  const dmesg = await run('dmesg', ['--color=never'], options)
  const problem = commandProblem('dmesg', dmesg)
  if (problem === undefined && dmesg.kind === 'ended') return { lines: parse(dmesg.stdout) }
  const journal = await run('journalctl', ['--dmesg', '--boot', '--no-pager', '--output=short-monotonic'], options)
  if (journal.kind === 'ended' && journal.exitCode === 0 && journal.stdout.includes(' kernel: ')) return { lines: parse(journal.stdout) }
  return { problem: `the kernel's log cannot be read: ${problem ?? 'dmesg printed nothing'}` }
}
