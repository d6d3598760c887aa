// Logs in the wrapping in which people have them: files of engines and collectors, notebooks, HTML, Markdown, a launcher's own prefix. The answer is that of the bare log.
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import { explainStream, explainText } from '../../../agent/diagnosis/explain.ts'
import { createLogJudge } from '../../../agent/diagnosis/live-judge.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import { unwrapped } from '../../../agent/diagnosis/unwrap/unwrap.ts'

const CRASH = [
  'loading shard 3 of 4',
  'Traceback (most recent call last):',
  '  File "/srv/job/train.py", line 88, in <module>',
  '    run(parse())',
  '  File "/srv/job/train.py", line 61, in run',
  '    table = rows["label"]',
  '            ~~~~^^^^^^^^^',
  "KeyError: 'label'",
]
const SIGNAL = ['reading the index', 'building the graph', 'Segmentation fault (core dumped)']

const each = (wrap: (line: string, at: number) => string) => (lines: readonly string[]) => lines.map(wrap).join('\n')
const second = (at: number): string => String(at % 60).padStart(2, '0')
const html = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
const cell = (lines: readonly string[]) => ({
  cell_type: 'code',
  outputs: [{ name: 'stderr', output_type: 'stream', text: lines.map((line) => `${line}\n`) }],
  source: ['raise SystemExit("no label")'],
})

const WRAPPINGS: Readonly<Record<string, (lines: readonly string[]) => string>> = {
  'a file of Docker': each((line) => JSON.stringify({ log: `${line}\n`, stream: 'stderr', time: '2026-03-01T10:00:00.1Z' })),
  'journalctl -o json': each((line) => JSON.stringify({ __CURSOR: 'x', MESSAGE: line, _PID: '412' })),
  'Fluent Bit': each((line) => JSON.stringify({ message: line, kubernetes: { pod_name: 'fit-0' } })),
  'a notebook, a string a line': (lines) => JSON.stringify({ cells: [cell(lines)], metadata: {}, nbformat: 4 }, undefined, 1),
  'a notebook in one line': (lines) => JSON.stringify({ cells: [cell(lines)], metadata: {}, nbformat: 4 }),
  HTML: (lines) => html(lines.join('\n')),
  'Markdown code by indentation': (lines) => `It stops after an hour:\n\n${lines.map((line) => `    ${line}`).join('\n')}\n\nWhat can I do?`,
  'tabs before each line': each((line) => `\t${line}`),
  Airflow: each((line, at) => `[2026-03-01, 10:00:${second(at)} UTC] {local_task.py:77} INFO - ${line}`),
  CloudWatch: each((line, at) => `${1_772_359_200_000 + at}\t${line}`),
  Kaggle: each((line, at) => `${(3.5 + at).toFixed(1)}s\t${at}\t${line}`),
  'SageMaker over MPI': each((line) => `[1,mpirank:0,algo-1]<stderr>:${line}`),
  'a launcher with a name and a number': each((line) => `node-7> ${line}`),
  'a logger with levels of several lengths': each((line, at) => `10:00:${second(at)} ${at % 3 === 0 ? 'INFO ' : 'ERROR'} | box:run:40 - ${line}`),
}

describe.each(Object.entries(WRAPPINGS))('in %s', (_, wrap) => {
  test('a traceback has its exception, and the line of the user', () => {
    const [root] = explainText(logScanner(), wrap(CRASH))
    expect(root?.facts).toMatchObject({ exception: 'KeyError', frame: expect.stringMatching(/train\.py:61$/) })
  })

  test('a last word is heard', () => {
    expect(explainText(logScanner(), wrap(SIGNAL)).map(({ kind }) => kind)).toEqual(['segfault'])
  })
})

test('lines of several ranks that stand mixed keep apart', () => {
  const mixed = CRASH.flatMap((line) => [`node-0> ${line}`, `node-1> ${line.replace('KeyError', 'IndexError').replace('61', '62')}`]).join('\n')
  // A traceback that took a line of the other rank would name the other's line.
  const found = explainText(logScanner(), mixed).map(({ facts }) => `${facts.exception} ${String(facts.frame).split(':').at(-1)}`)
  expect(['KeyError 61', 'IndexError 62']).toEqual(expect.arrayContaining(found))
  expect(found).toContain('KeyError 61')
})

test("a message alone in an engine's file is known as it is without", () => {
  const message = 'RuntimeError: CUDA error: no kernel image is available for execution on the device'
  const kinds = (text: string): readonly string[] => explainText(logScanner(), text).map(({ kind, title }) => `${kind}: ${title}`)
  expect(kinds(JSON.stringify({ log: `${message}\n`, stream: 'stderr', time: '2026-03-01T10:00:00.1Z' }))).toEqual(kinds(message))
  expect(kinds(message)).not.toEqual([])
})

test('a file of Docker that is too long to be held', () => {
  const line = (text: string): string => `${JSON.stringify({ log: `${text}\n`, stream: 'stdout', time: '2026-03-01T10:00:00.1Z' })}\n`
  const whole = Buffer.from([...Array.from({ length: 6_000 }, (_, at) => `batch ${at} of 6000 done`), ...CRASH].map(line).join(''))
  const pieces = Array.from({ length: Math.ceil(whole.length / 50_000) }, (_, at) => whole.subarray(at * 50_000, (at + 1) * 50_000))
  const [root] = explainStream(logScanner(), pieces)
  expect(root?.facts).toMatchObject({ exception: 'KeyError', frame: expect.stringMatching(/train\.py:61$/) })
})

test.each([
  ['with a byte order mark', Buffer.from([0xff, 0xfe])],
  ['without one', Buffer.alloc(0)],
])('UTF-16 as PowerShell writes it, %s', (_, mark) => {
  const whole = Buffer.concat([mark, Buffer.from(CRASH.join('\r\n'), 'utf16le')])
  const [root] = explainStream(logScanner(), [whole.subarray(0, 101), whole.subarray(101)])
  expect(root?.facts).toMatchObject({ exception: 'KeyError', frame: expect.stringMatching(/train\.py:61$/) })
})

describe('what is not wrapped stays as it is', () => {
  test.each([
    ['a bare log', [...CRASH]],
    [
      'kernel lines that begin alike',
      ['[ 812.4] NVRM: Xid (PCI:0000:65:00): 79, pid=4, name=python', '[ 812.9] NVRM: Xid (PCI:0000:66:00): 79, pid=5, name=python'],
    ],
    ['steps that begin alike', ['step 1: loss 2.0', 'step 2: loss 1.9', 'step 3: loss nan', 'step 4: loss nan']],
    ['objects of a logger', ['{"level":"info","message":"step 1"}', '{"level":"error","message":"failed"}']],
    [
      'lines with a prefix that is known',
      ['[rank0]: Traceback (most recent call last):', '[rank0]:   File "/srv/a.py", line 1, in <module>', '[rank0]: ValueError: x'],
    ],
  ])('%s', (_, lines) => {
    expect(unwrapped(lines)).toEqual(lines)
  })

  test('each line keeps its number, whatever it is', () => {
    const line = fc.oneof(fc.constantFrom(...CRASH, '', '{', '"text": [', ']', '{"log":"a\\n"}', '\tb', '    c', '&lt;', 'node-1> d'), fc.string())
    fc.assert(
      fc.property(fc.array(line, { maxLength: 30 }), (lines) => {
        expect(unwrapped(lines.map((text) => text.replace(/[\r\n]/g, ' ')))).toHaveLength(lines.length)
      }),
    )
  })
})

describe('what the system says in another language', () => {
  test.each([
    ['段错误 (核心已转储)', 'Segmentation fault (core dumped)'],
    ['run.sh: 行 4: 812 已杀死               python fit.py', 'run.sh: line 4: 812 Killed               python fit.py'],
    ['Speicherzugriffsfehler (Speicherabzug geschrieben)', 'Segmentation fault (core dumped)'],
    ['Убито', 'Killed'],
    ['bash: nvcc : commande introuvable', 'bash: nvcc: command not found'],
    ['bash: nvcc：未找到命令', 'bash: nvcc: command not found'],
    ["cp: error al escribir en 'a': No queda espacio en el dispositivo", "cp: error al escribir en 'a': No space left on device"],
    [
      'OSError: [WinError 126] 找不到指定的模块。 Error loading "C:\\a.dll"',
      'OSError: [WinError 126] The specified module could not be found. Error loading "C:\\a.dll"',
    ],
    ['进程已结束，退出代码为 139', 'Process finished with exit code 139'],
  ])('%s', (said, english) => {
    expect(unwrapped([said])).toEqual([english])
  })

  test.each(['Terminado el entrenamiento de la época 3', '模型中止条件: loss < 0.1', 'Abandon rate 0.3', 'Killed 3 of 4 monsters', 'Morto vivo: classe 7'])(
    '%s is left alone',
    (line) => {
      expect(unwrapped([line])).toEqual([line])
    },
  )
})

const RICH = [
  '[11/20/26 10:11:12] ERROR    CUDA out of memory. Tried to        train.py:88',
  '                             allocate 2.00 GiB. GPU 0 has a total',
  '                             capacity of 23.69 GiB of which 1.20',
  '                             GiB is free.',
].join('\n')

test.each<[question: string, answer: string, kinds: readonly string[]]>([
  ["$ docker inspect fit --format '{{.State.ExitCode}} {{.State.OOMKilled}}'", '137 false', ['job_killed']],
  ["$ docker inspect fit --format '{{.State.ExitCode}} {{.State.OOMKilled}}'", '137 true', ['host_oom_kill']],
  ['podman inspect -f "{{.State.Status}} exit={{.State.ExitCode}} oom={{.State.OOMKilled}}" fit', 'exited exit=137 oom=true', ['host_oom_kill']],
  ["docker inspect --format='{{.State.OOMKilled}}' fit", 'false', []],
  ["docker inspect --format='{{json .State}}' fit", '{"Status":"exited","OOMKilled":true,"ExitCode":137}', ['host_oom_kill']],
  ["docker container inspect -f '{{.State.ExitCode}}' fit", '139', ['segfault']],
  ['$ echo $?', '139', ['segfault']],
  ['$ echo $?', '0', []],
  ['$ python fit.py; echo "left with $?"', 'epoch 1 done\nleft with 137', ['job_killed']],
  ['>>> torch.cuda.is_available()', 'False', ['gpu_not_visible']],
  ['>>> print(torch.cuda.is_available())', 'True', []],
  ['In [4]: torch.cuda.device_count()', 'Out[4]: 0', ['gpu_not_visible']],
  ['$ python3 -c "import torch; print(torch.__version__, torch.cuda.is_available())"', '2.6.0+cu124 False', ['gpu_not_visible']],
  [">>> tf.config.list_physical_devices('GPU')", '[]', ['gpu_not_visible']],
  [">>> tf.config.list_physical_devices('GPU')", "[PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]", []],
  ['>>> jax.devices()', '[CpuDevice(id=0)]', ['gpu_not_visible']],
  ['>>> ort.get_available_providers()', "['AzureExecutionProvider', 'CPUExecutionProvider']", ['gpu_not_visible']],
  ['>>> ort.get_available_providers()', "['CUDAExecutionProvider', 'CPUExecutionProvider']", []],
  // What is printed depends on the braces.
  ["docker inspect -f '{{if .State.OOMKilled}}memory{{end}} {{.State.ExitCode}}' fit", ' 0', []],
  ["docker inspect -f '{{.State.ExitCode}}' fit", 'Error: No such object: fit', []],
])('an answer to a format has the names of its question: %s %s', (question, answer, kinds) => {
  const reported = explainText(logScanner(), `${question}\n${answer}\n`)
  expect(reported.map(({ kind }) => kind)).toEqual(kinds)
  for (const { verdict } of reported) expect(verdict).not.toMatch(/<CONTAINER>/)
})

test('the place that Rich prints at the right is no part of the sentence, in a file and live', () => {
  const figures = { requested_bytes: 2 * 2 ** 30, gpu_index: 0 }
  expect(explainText(logScanner(), RICH)[0]?.facts).toMatchObject(figures)
  const live = createLogJudge(logScanner()).judge({ type: 'log', t: 1, text: RICH, stream: 'container', origin: { container: 'fit' } })
  expect(live[0]?.facts).toMatchObject(figures)
})

const comfy = (type: string, message: string, file: string): readonly string[] => [
  '# ComfyUI Error Report',
  '## Error Details',
  '- **Node Type:** Sampler',
  `- **Exception Type:** ${type}`,
  `- **Exception Message:** ${message}`,
  '',
  '## Stack Trace',
  '```',
  `  File "/opt/ComfyUI/custom_nodes/own/${file}", line 7, in process`,
  '    latents = pipe(x)',
  '```',
  '## System Information',
  '- **ComfyUI Version:** 0.3.20',
  '## Logs',
  '```',
  'got prompt',
  '```',
]
describe("ComfyUI's report", () => {
  test('of two in one text each keeps its frames and its exception, in their lines', () => {
    const lines = [...comfy('ValueError', 'one', 'a.py'), ...comfy('KeyError', 'two', 'b.py')]
    const plain = unwrapped(lines)
    expect(plain).toHaveLength(lines.length)
    expect(plain.filter((line) => /^(?:Traceback|\s+File|\w+Error: )/.test(line)).map((line) => line.replace(/.*own\//, ''))).toEqual([
      'Traceback (most recent call last):',
      'a.py", line 7, in process',
      'ValueError: one',
      'Traceback (most recent call last):',
      'b.py", line 7, in process',
      'KeyError: two',
    ])
  })
  test('what stands behind it is kept, and so is the version in it', () => {
    const plain = unwrapped([...comfy('ValueError', 'one', 'a.py'), 'CUDA error: out of memory', 'step 2 of 9'])
    expect(plain.slice(-2)).toEqual(['CUDA error: out of memory', 'step 2 of 9'])
    expect(plain).toContain('- **ComfyUI Version:** 0.3.20')
    expect(plain).not.toContain('got prompt')
  })
  test('without frames its message is the exception', () => {
    expect(unwrapped(['- **Exception Type:** ValueError', '- **Exception Message:** one'])).toContain('ValueError: one')
  })
})
