// Command lines as people see them: one line, bounded, and no secret in whatever form it was given.
import { expect, test } from 'vitest'
import { commandLine } from '../../../agent/attribution/command-line.ts'

const argv = (...words: readonly string[]): string => `${words.join('\0')}\0`
const SECRET = 'hunter2-xyzzy'

test.each([
  ['an option with its value', argv('python', 'train.py', '--hf-token', SECRET, '--lr', '1e-4'), 'python train.py --hf-token [redacted] --lr 1e-4'],
  ['an option with a sign', argv('vllm', 'serve', `--api-key=${SECRET}`), 'vllm serve --api-key=[redacted]'],
  ['a value with spaces', argv('app', '--password', `${SECRET} and more`, '-v'), 'app --password [redacted] -v'],
  ['one dash', argv('app', '-password', SECRET), 'app -password [redacted]'],
  ['a variable', argv('env', `WANDB_API_KEY=${SECRET}`, 'python', 'a.py'), 'env WANDB_API_KEY=[redacted] python a.py'],
  ['an empty value', argv('app', '--token', '--verbose'), 'app --token --verbose'],
  [
    'what only sounds like a secret',
    argv('python', 'tokenize.py', '--max-tokens', '4096', '--tokenizer', 'llama'),
    'python tokenize.py --max-tokens 4096 --tokenizer llama',
  ],
  ['a URL with a password', argv('app', `postgres://ada:${SECRET}@db/x`), 'app postgres://ada:[redacted]@db/x'],
  ['line breaks and escapes', argv('python', '-c', 'import a\nprint("\u001b[31m")'), 'python -c import a print(" [31m")'],
  ['nothing', '', ''],
])('%s', (_, text, shown) => expect(commandLine(text)).toBe(shown))

test('a long one is cut after its secrets have gone', () => {
  const shown = commandLine(argv('python', 'x'.repeat(280), '--token', SECRET, 'y'.repeat(200)))
  expect(shown).toHaveLength(300)
  expect(shown).not.toContain('hunter2')
  expect(shown.endsWith('…')).toBe(true)
})
