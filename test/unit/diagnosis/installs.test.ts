// Advice on installs, builds, removed names and applications: read from what pip, uv, conda and compilers print.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const answer = (text: string) => {
  const fault = explainText(logScanner(), text).at(-1)
  const remedies = fault?.remedies ?? []
  return {
    kind: fault?.kind,
    title: fault?.title ?? '',
    verdict: fault?.verdict ?? '',
    all: remedies.map((one) => `${one.text} ${one.command ?? ''}`).join('\n'),
  }
}
const imports = (file: string, error: string): string =>
  `Traceback (most recent call last):\n  File "/srv/app/run.py", line 3, in start\n    import it\n  File "${file}", line 9, in <module>\n    from there import that\n${error}\n`

test.each([
  [
    'older than what pip lists',
    'ERROR: Could not find a version that satisfies the requirement scipy==1.4.0 (from versions: 1.9.2, 1.10.0, 1.11.1)\n',
    'scipy==1.4.0 is older than what there is for this Python',
    /1\.9\.2 is the oldest/,
  ],
  [
    'newer than what pip lists',
    'ERROR: Could not find a version that satisfies the requirement torch==2.9.0 (from versions: 1.13.1, 2.0.0, 2.4.1)\n',
    'torch==2.9.0 is newer than what there is for this Python',
    /install 2\.4\.1/,
  ],
  [
    'a build for one CUDA',
    'ERROR: Could not find a version that satisfies the requirement torch==2.3.0+cu118 (from versions: 2.2.0, 2.3.0, 2.4.0)\n',
    'torch==2.3.0+cu118 is not on PyPI',
    /extra-index-url https:\/\/download\.pytorch\.org\/whl\/cu118/,
  ],
  ['nothing for this Python', 'ERROR: No matching distribution found for tensorrt_cu12\n', 'pip finds no tensorrt_cu12 for this Python', /64|other|another/],
  [
    'uv and a platform',
    '  × No solution found when resolving dependencies:\n  ╰─▶ Because somelib==2.1 has no wheels with a matching platform tag (e.g.,\n      `win_amd64`) and you require somelib==2.1, your requirements are unsatisfiable.\n',
    'uv finds no set of packages that fit together',
    /somelib has no wheel for win_amd64/,
  ],
  [
    'conda and builds of another system',
    'Solving environment: failed\n\nPackagesNotFoundError: The following packages are not available from current channels:\n\n  - pytorch==2.1.0=py3.9_cuda11.8_cudnn8_0\n',
    'conda finds no set of packages that fit together',
    /build strings/,
  ],
  [
    'the Python of the system',
    'error: externally-managed-environment\n\n× This environment is externally managed\n',
    'pip may not change the Python of the system',
    /python3 -m venv/,
  ],
  [
    'an include that a compiler no longer brings',
    '      /build/ext/near.cu(41): error: identifier "FLT_MAX" is undefined\n\n      1 error detected in the compilation of "/build/ext/near.cu".\n      ninja: build stopped: subcommand failed.\n',
    'near.cu lacks an include',
    /#include <cfloat> at the top of near\.cu/,
  ],
  [
    'a submodule that was not fetched',
    '    /build/ext/helper.h:12: fatal error: glm/glm.hpp: No such file or directory\n    compilation terminated.\n    ERROR: Failed building wheel for rasterizer\n',
    'A git submodule is missing',
    /git submodule update --init --recursive/,
  ],
])('%s', (_, text, title, advice) => {
  const reported = answer(text)
  expect(reported.title).toBe(title)
  expect(reported.all).toMatch(advice)
})

test('a name that a release removed: who asks for it decides what is updated', () => {
  const error = "ImportError: cannot import name 'HybridCache' from 'transformers' (/opt/v/lib/python3.12/site-packages/transformers/__init__.py)"
  const foreign = answer(imports('/opt/v/lib/python3.12/site-packages/peft/mapping.py', error))
  expect(foreign.title).toContain('transformers 5 has no HybridCache')
  expect(foreign.all).toMatch(/^Update peft/)
  expect(foreign.all).toContain("'transformers<5'")
  expect(answer(imports('/srv/app/own.py', error)).all).toMatch(/^Install transformers before 5/)
})

test('a name that came with a newer PyTorch: another PyTorch is not installed for one package', () => {
  const { all } = answer(
    imports('/opt/v/lib/python3.12/site-packages/somekernels/ops.py', "AttributeError: module 'torch.library' has no attribute 'custom_op'"),
  )
  expect(all).toContain('which came with PyTorch 2.4')
  expect(all).not.toContain('--upgrade torch')
})

test('folders of the project and extensions that it compiles are not fetched by pip', () => {
  const own = answer(imports('/srv/app/tools/train.py', "ModuleNotFoundError: No module named 'models'"))
  expect(own.all).toContain('folder of the project itself')
  expect(own.all).not.toContain('pip install models')
  const built = answer(imports('/srv/app/render.py', "ModuleNotFoundError: No module named 'simple_knn'"))
  expect(built.all).toContain('./submodules/simple-knn')
})

test('the code of a node pack is updated, not debugged', () => {
  const { title, all } = answer(
    `Traceback (most recent call last):\n  File "/srv/ComfyUI/execution.py", line 9, in run\n    go()\n  File "/srv/ComfyUI/custom_nodes/some-pack/nodes.py", line 4, in go\n    model.patch()\nAttributeError: 'Wrapped' object has no attribute 'patch'\n`,
  )
  expect(title).toBe("AttributeError: 'Wrapped' object has no attribute 'patch'")
  expect(all).toContain('git -C custom_nodes/some-pack pull')
  expect(all).not.toContain('debugger')
})

test('an indented traceback and a failed assertion without words', () => {
  const { verdict } = answer(
    '    Traceback (most recent call last):\n      File "/srv/job/load.py", line 7, in <module>\n        assert len(parts) > 0\n    AssertionError\n',
  )
  expect(verdict).toContain('assert len(parts) > 0')
  expect(verdict).toContain('load.py:7')
})

test('a message without its traceback is looked up; a note about what is optional is not', () => {
  expect(answer('Weights only load failed. This file can still be loaded, to do so you have two options.\n').kind).toBe('checkpoint_mismatch')
  expect(
    answer("A matching Triton is not available, some optimizations will not be enabled.\nError caught was: No module named 'triton'\n").kind,
  ).toBeUndefined()
})

test('the figures and names of a message are filled in', () => {
  expect(answer('OSError: Could not find compatible tinycudann extension for compute capability 75.\n').all).toContain('TCNN_CUDA_ARCHITECTURES=75')
  const { title, all } = answer(
    "Traceback (most recent call last):\n  File \"/opt/v/lib/python3.12/site-packages/lightning/pytorch/core/saving.py\", line 9, in _load_state\n    return cls()\nTypeError: Net.__init__() missing 2 required positional arguments: 'width' and 'depth'\n",
  )
  expect(title).toBe('Lightning lacks the arguments of Net')
  expect(all).toContain('load_from_checkpoint(path, width, depth=…)')
})

test('what the compiler said first comes before the build that failed by it', () => {
  const { title, all } = answer(
    "nvcc error   : 'ptxas' died due to signal 9 (Kill signal)\nTraceback (most recent call last):\n  File \"/opt/v/lib/python3.12/site-packages/torch/utils/cpp_extension.py\", line 20, in build\n    run()\nsubprocess.CalledProcessError: Command '['ninja', '-v']' returned non-zero exit status 1.\n",
  )
  expect(title).toBe('The host ran out of memory while it compiled')
  expect(all).toContain('MAX_JOBS')
})
