// What an exception that no rule knows tells by its traceback alone: the user's line as it is written, whose check refused what, and which value it is.
import { describe, expect, test } from 'vitest'
import { choicesIn } from '../../../agent/diagnosis/ends/choices.ts'
import { callIn, identifiersIn, shown } from '../../../agent/diagnosis/ends/failed-call.ts'
import { answer } from './answer.ts'

type Line = readonly [file: string, line: number, name: string, code: string]
const traceback = (frames: readonly Line[], error: string): string =>
  `Traceback (most recent call last):\n${frames.map(([file, line, name, code]) => `  File "${file}", line ${line}, in ${name}\n    ${code}\n`).join('')}${error}\n`
const SITE = '/opt/env/lib/python3.12/site-packages'
const own = (code: string, name = '<module>', line = 12): Line => ['/home/u/fit.py', line, name, code]
const library = (file: string, name: string, code: string): Line => [`${SITE}/${file}`, 88, name, code]

describe('a line of source', () => {
  test.each([
    ['history = net.fit(rows, labels, epochs=3)', undefined, { callee: 'net.fit', names: ['rows', 'labels'] }],
    ['super().__init__(cfg, overrides, _hooks)', undefined, { callee: 'super().__init__', names: ['cfg', 'overrides', '_hooks'] }],
    ['loss = square(mix(score, std) + z)', 'mix', { callee: 'mix', names: ['score', 'std'] }],
    ['config = TunerConfig(rank=rank, kind="lora")', '__init__', { callee: 'TunerConfig', names: ['rank'] }],
    ['x = rows[0]', undefined, undefined],
  ])('%s calls', (code, inside, call) => expect(callIn(code, inside)).toEqual(call))

  test('names its values, not its functions, texts or targets', () => expect(identifiersIn('out = mix(a, b.mean()) + rows["c"]  # d')).toEqual(['a', 'rows']))

  test.each(["login(token='abcdefghij')", 'api_key = "abcdefgh"', 'headers["Authorization key"] = "abcdefgh"', "login('hf_abcdefghijk')"])(
    'that may hold a key is not shown: %s',
    (code) => expect(shown(code)).toBeUndefined(),
  )
  test('that only names a token is shown', () => expect(shown('collate(processor.pad_token_id)')).toBe('collate(processor.pad_token_id)'))
})

describe('choices of a message', () => {
  test.each([
    ["Config 'de' not found. Available: ['default', 'en']", ['default', 'en'], 'de'],
    ["mode must be one of ('sum', 'mean'), got 'max'", ['sum', 'mean'], 'max'],
    ["Unknown split 'dev'. Should be one of: ['train', 'test'].", ['train', 'test'], 'dev'],
    ['expected one of [alpha, beta]', ['alpha', 'beta'], undefined],
  ])('%s', (message, list, given) => expect(choicesIn(message)).toEqual({ list, given }))
  test('figures are none', () => expect(choicesIn('must be one of [1, 2, 4]')).toBeUndefined())
})

describe('a check of a library', () => {
  const refused = (error: string, code = 'tuner = TunerConfig(rank, layers)'): string =>
    answer(traceback([own(code), library('peft/config.py', '__post_init__', `raise ValueError("x")`)], error)).all

  test('names who refused what, where', () =>
    expect(refused('ValueError: `rank_pattern` should be a subset of `layer_names`')).toMatch(
      /peft refuses what TunerConfig\(…\) at fit\.py:12 passes: change rank_pattern and layer_names until that holds/,
    ))
  test('prints what the message speaks of', () => {
    expect(refused('ValueError: shape of rank differs')).toContain('print(rank.shape, layers.shape)')
    expect(refused('ValueError: Input contains NaN.')).toContain('np.isnan(rank).sum()')
  })
  test('of nothing looks for the data', () =>
    expect(refused('ValueError: the loader found 0 images', 'loader = TunerConfig(folder)')).toMatch(/There is nothing in folder: see that the path/))
  test('lists what there is', () =>
    expect(refused("ValueError: Task 'rows' not found. Available: ['seq', 'token']")).toMatch(/lists: seq, token \(rows is not among them\), in TunerConfig/))
  test('that is an assertion quotes it', () =>
    expect(answer(traceback([library('deepspeed/zero.py', 'pack', 'assert len(set(t.dtype for t in parts)) == 1')], 'AssertionError')).all).toMatch(
      /deepspeed requires in pack \(zero\.py:88\) that this holds: len\(set\(t\.dtype for t in parts\)\) == 1\. Look at the dtypes/,
    ))
  test('leaves the rest to a message that says itself what to do', () => {
    const all = refused('ValueError: rank is odd. Please pass an even rank to the tuner.')
    expect(all).toContain('The message itself says what to do: "Please pass an even rank to the tuner."')
    expect(all).not.toContain('refuses')
  })
})

describe('a value that the line does not expect', () => {
  const at = (error: string, ...frames: readonly Line[]): string => answer(traceback(frames, error)).all

  test('None: by its name, with what a library got', () => {
    expect(at("AttributeError: 'NoneType' object has no attribute 'rank'", own('size = best.rank + 1'))).toContain('best is None there')
    expect(
      at("AttributeError: 'NoneType' object has no attribute 'adapters'", own('save(unet)'), library('peft/save.py', 'save', 'names = model.adapters[0]')),
    ).toMatch(/In peft, save \(save\.py:88\), model is None: see what save\(…\) at fit\.py:12 gets \(unet\)/)
    expect(
      at(
        "TypeError: argument of type 'NoneType' is not iterable",
        own('super().__init__(cfg)', '__init__'),
        library('timm/cfg.py', 'read', 'if "lr" not in cfg:'),
      ),
    ).toContain('cfg is None')
  })
  test('an index: the list, the size, and who called', () => {
    expect(at('IndexError: list index out of range', own("path = glob.glob('*.yaml')[0]"))).toMatch(/glob\.glob\('\*\.yaml'\) found nothing/)
    const all = at('IndexError: index 4 is out of bounds for dimension 1 with size 3', own('run(rows)'), own('table[i, j] = value', 'run', 40))
    expect(all).toMatch(/table has 3 entries in dimension 1, so that index 4 does not exist/)
    expect(all).toContain('It was called at fit.py:12, `run(rows)`')
  })
  test('a key: the mapping', () => {
    expect(at("KeyError: 'target'", own('y = row["target"]'))).toContain("row has no 'target'")
    expect(at("KeyError: 'RANK_DIR'", own("root = os.environ['RANK_DIR']"))).toContain('Set the variable RANK_DIR')
  })
  test('another type: how it is converted', () => {
    expect(at('TypeError: expected Tensor as element 0 in argument 0, but got list', own('x = torch.cat([p for p in parts])'))).toMatch(
      /a list was passed where a Tensor is expected[^]*torch\.as_tensor/,
    )
    expect(at("TypeError: unsupported operand type(s) for +: 'int' and 'str'", own('total = count + name'))).toMatch(/There an int meets a str/)
  })
  test('an argument: who gave it', () => {
    expect(
      at(
        "TypeError: MyStep.step() got an unexpected keyword argument 'closure'",
        own('trainer.fit(m)'),
        library('lightning/precision.py', 'go', 'return opt.step(closure=closure, **kwargs)'),
      ),
    ).toMatch(/lightning calls MyStep\.step with closure \(precision\.py:88\)\. Where MyStep is your own, let step take closure/)
    expect(
      at(
        "TypeError: forward() got an unexpected keyword argument 'row_id'",
        own('trainer.train()'),
        library('transformers/trainer.py', 'loss', 'out = model(**inputs)'),
        library('peft/model.py', 'forward', 'return self.model.forward(*args, **kwargs)'),
      ),
    ).toContain('The batch holds row_id, which the model does not take')
  })
})

test('a line of a package that is a clone stays the user’s: nobody can tell whether it was changed', () => {
  const all = answer(
    traceback(
      [own('net.train(data)'), ['/home/u/work/ultralytics/engine/model.py', 7, 'train', 'raise ValueError("x")']],
      'ValueError: epochs must be positive',
    ),
  ).all
  expect(all).toContain('model.py:7')
})

test('the step of a build of an image, with what it said last', () =>
  expect(
    answer(
      '#9 [4/6] RUN make -C kernels\n#9 3.210 cc -c a.c\n#9 4.001 make: *** [Makefile:3: a.o] Error 1\n#9 ERROR: process "/bin/sh -c make -C kernels" did not complete successfully: exit code: 2\n',
    ).all,
  ).toMatch(/ended at the step "make -C kernels", which said: "make: \*\*\* \[Makefile:3: a\.o\] Error 1"/))

test.each([
  ["'tune-cli' is not recognized as an internal or external command,", 'where tune-cli'],
  ["'tune-cli' 不是内部或外部命令，也不是可运行的程序", 'where tune-cli'],
  ["The term 'tune-cli' is not recognized as the name of a cmdlet, function, script file, or operable program.", 'where tune-cli'],
])('a program that Windows does not find: %s', (line, command) => expect(answer(`starting\n${line}\n`).all).toContain(command))

test('a launcher of another Python is named, and a project is installed from its folder', () => {
  const text = `${traceback([['/home/u/rowtune/src/rowtune/launch.py', 3, '<module>', 'from rowtune.run import go']], "ModuleNotFoundError: No module named 'rowtune'")}E1101 10:00:00.000 7 torch/distributed/elastic/multiprocessing/api.py:874] failed (exitcode: 1) local_rank: 0 (pid: 9) of binary: /usr/bin/python3\n`
  expect(answer(text).all).toMatch(/ran under \/usr\/bin\/python3[^]*\/usr\/bin\/python3 -m pip install -e \/home\/u\/rowtune/)
})

test('a path is not taken for a repository', () =>
  expect(
    answer(
      traceback(
        [own('Tok.from_pretrained(path)'), library('huggingface_hub/utils/_validators.py', 'validate', 'raise HFValidationError(')],
        "huggingface_hub.utils._validators.HFValidationError: Repo id must be in the form 'repo_name' or 'namespace/repo_name': '../models/tiny'. Use `repo_type` argument if needed.",
      ),
    ).all,
  ).toMatch(/folder of the model is not there[^]*relative path counts[^]*pwd; ls -l \.\.\/models\/tiny/))
