// Code that does not compile at run time: torch.compile, Triton, XLA, CUDA extensions.
import { WEIGHT, anyOf, openFrame, raises, saying, says, type EndKind, type EndContext } from '../end-kind.ts'
import { builds, compilerSaid } from '../compiler-error.ts'
import { setVariables } from '../../faults/remedies/environment.ts'
import { pipInstall } from '../../faults/remedies/pip.ts'
import type { Piece } from '../../faults/remedies/plan.ts'

/** Triton compiles for compute capability 7.0 and newer; its newer releases promise 8.0. https://github.com/triton-lang/triton#compatibility */
function tooOld({ situation }: EndContext): Piece {
  const capability = /\bsm_([56]\d)\b/.exec(situation.text)?.[1]
  return (
    capability !== undefined &&
    /triton|PassManager|sageattention/i.test(situation.text) && {
      text: `This GPU has compute capability ${capability[0]}.${capability[1]}, and Triton needs at least 7.0 (its newer releases 8.0): choose an attention or a backend without Triton.`,
    }
  )
}

/** triton-windows has a compiler of its own, tcc. https://github.com/woct0rdho/triton-windows#8-special-notes-for-comfyui-with-embeded-python */
const bringsCompiler = ({ situation: { text } }: EndContext): boolean => /[\\/]triton[\\/]{1,2}runtime[\\/]{1,2}tcc[\\/]/.test(text)
function onWindows(context: EndContext): Piece {
  const { text, system } = context.situation
  // torch/_inductor/cpp_builder.py
  if (/Compiler: cl is not found/.test(text))
    return {
      text: 'torch.compile needs the C++ compiler of Visual Studio: install its build tools with "Desktop development with C++", then start the program from "x64 Native Tools Command Prompt".',
      command: 'winget install --exact --id Microsoft.VisualStudio.2022.BuildTools',
    }
  if (system !== 'windows' || !/triton/i.test(text)) return undefined
  if (/Python\.h' not found|Failed to find Python libs|library 'python3/.test(text))
    return {
      text: 'Triton does not find the headers and libraries of this Python, which the portable one lacks: copy the folders include and libs of an installed Python of the same minor version into its folder (python_embeded). The folder is libs, not Lib.',
    }
  return {
    text: 'On Windows Triton needs triton-windows of the release that fits this PyTorch, and the folders include and libs of this Python (the portable ComfyUI lacks them: copy them from the same version of Python).',
    command: pipInstall(context.situation, 'triton-windows', '--upgrade'),
  }
}

const NO_FILE = /No such file/
/** `Python.h`, or what it includes. */
function pythonHeader({ error, situation }: EndContext): Piece {
  const words = `${error?.message} ${error?.tail}`
  const python = /(?:python(3\.\d{1,2})\/)?(?:pyconfig|Python)\.h\b/.exec(words)
  return (
    python !== null &&
    NO_FILE.test(words) &&
    situation.system !== 'windows' && {
      text: 'The headers of this Python are missing, or not whole: install its development package (Fedora and RHEL: python3-devel; conda brings them). On Debian and Ubuntu:',
      command: `sudo apt-get install -y ${python[1] === undefined ? 'python3-dev' : `python${python[1]}-dev libpython${python[1]}-dev`}`,
    }
  )
}

const PYTHON = /\bpython|\.py\b|Traceback|torch|triton|\bpip\b|setuptools/i
/** What pkg-config, or a build script in Rust that asks it, says of a library that is not there. */
const NOT_INSTALLED =
  /system library `([\w.+-]{1,60})` required by crate|No package '([\w.+-]{1,60})' found|Package '?([\w.+-]{1,60})'?(?:, required by [^\n]{1,80},)? (?:was )?not found/
function systemLibrary(text: string): Piece {
  const name = NOT_INSTALLED.exec(text)
    ?.slice(1)
    .find((group) => group !== undefined)
  return (
    name !== undefined && {
      text: `The system library ${name} is missing, or its development package: install the package that brings ${name}.pc, then build again.`,
      command: `pkg-config --modversion ${name}`,
    }
  )
}

const COMPILES =
  /^Command '\[?'?(?:[^'\s]{0,160}[\\/])?(?:x86_64-\S{1,40}-)?(?:gcc|g\+\+|clang(?:\+\+)?|cc|c\+\+|nvcc|hipcc|ptxas|ninja|cl)(?:-\d{1,2})?(?:\.exe)?[' ]/

export const compileError: EndKind = {
  kind: 'compile_error',
  stage: 'cause',
  severity: 'critical',
  claims: anyOf(
    raises(/^compiler$/, WEIGHT.message),
    // Its command is long, and often cut.
    ({ name, message }) => (name === 'CalledProcessError' && COMPILES.test(message) ? { weight: WEIGHT.message } : undefined),
    raises(
      /^(?:BackendCompilerFailed|InductorError|LoweringException|CppCompileError|CUDACompileError|CompilationError|CompileTimeAssertionFailure|PTXASError|TorchRuntimeError|TritonError|OutOfResources|InternalTorchDynamoError|FailOnRecompileLimitHit|RecompileError|NoValidChoicesError|CompileException|CompileError|LinkError|DistutilsExecError|LoweringError|NVRTCError|JitError|MLIRError|UncapturedHigherOrderOpError)$/,
      WEIGHT.errno + 0.5,
    ),
    // Of that name there are many more.
    ({ name, module }) => ((name === 'UserError' && /_dynamo/.test(module ?? '')) || name === 'Unsupported' ? { weight: WEIGHT.errno + 0.5 } : undefined),
    says(
      /\bptxas (?:fatal|error)|\bnvcc fatal|\bhipcc\b.{0,80}(?:error|failed)|PassManager::run failed|Error (?:compiling objects|building extension)|Ninja is required to load|torch\.compile with fullgraph|[Ff]ailed to find C compiler|C\+\+ compile error|fatal error: [\w./+-]{1,120}: No such file or directory|ld returned \d exit status|['"](?:ninja|[^'"\n]{0,120}nvcc|[^'"\n]{0,160}(?:gcc|g\+\+|clang|cl|tcc)(?:-\d+)?(?:\.exe)?)['"][^\n]{0,900}(?:returned non-zero|failed with exit)|command '[^'\n]{0,120}(?:nvcc|gcc|g\+\+|clang|hipcc|cl\.exe)' failed|error: could not compile|failed to run custom build command|Failed building wheel for|Could not build wheels for|Failed to build installable wheels|subprocess-exited-with-error|NVRTC_ERROR|nvrtc: error|^\[Compilation Error\]|LLVM ERROR(?!: out of memory)|MLIR|CUDA_HOME environment variable is not set|Could not find (?:nvcc|CUDA toolkit)|Mosaic failed|Failed to (?:compile|legalize)|triton\.compiler|out of resource: |^Triton compilation failed/,
      WEIGHT.message,
    ),
    ({ frames, name }) =>
      name !== undefined &&
      /^(?:RuntimeError|AssertionError|NotImplementedError|KeyError|TypeError|AttributeError|ValueError|IndexError)$/.test(name) &&
      /[\\/](?:torch[\\/]_inductor|triton[\\/](?:compiler|backends|runtime[\\/]jit))[\\/.]/.test(frames.at(-1)?.file ?? '')
        ? { weight: WEIGHT.exception }
        : undefined,
  ),
  title: (context) => `Code could not be compiled${context.facts.frame === undefined ? '' : ` for ${context.facts.frame}`}`,
  verdict: (context) => saying(context, 'failed while code was compiled'),
  remedies: (context) => [
    pythonHeader(context),
    /^(?:Unsupported|UserError)$/.test(context.error?.name ?? '') && {
      text: `What is below "from user code:" cannot be compiled: take it out of the compiled function (@torch.compiler.disable), write it with torch, or leave out fullgraph=True.`,
    },
    /inductor|dynamo|torch[._]compile/i.test(context.situation.text) &&
      context.situation.programs.has('pytorch') && {
        text: 'Run once without torch.compile, to see whether the program itself works.',
        command: setVariables(context.situation, { TORCHDYNAMO_DISABLE: '1' }),
      },
    tooOld(context),
    onWindows(context),
    builds(context) &&
      !bringsCompiler(context) && {
        text: 'See which compilers are there: the CUDA toolkit must be of the version that PyTorch was built with.',
        command: `nvcc --version${context.situation.system === 'windows' ? ' & where cl &' : '; g++ --version | head -n 1;'} python -c "import torch; print(torch.version.cuda)"`,
      },
    /'-lcuda'/.test(context.error?.message ?? '') &&
      context.situation.system !== 'windows' && {
        text: 'Mostly the linker finds no libcuda.so, or the headers of this Python (python3-dev) are missing.',
        command: 'ldconfig -p | grep libcuda; ls "$(python -c \'import sysconfig; print(sysconfig.get_paths()["include"])\')/Python.h"',
      },
    builds(context) && {
      text:
        compilerSaid(context) === undefined
          ? 'The first error of the compiler is the one that counts: look above the traceback for "error:".'
          : `The first error of the compiler is the one that counts: "${compilerSaid(context)}".`,
    },
    NO_FILE.test(`${context.error?.message} ${context.error?.tail}`) &&
      pythonHeader(context) === false && { text: 'A header is missing: install the development package that brings it.' },
    systemLibrary(context.situation.text),
    !PYTHON.test(context.situation.text) && {
      text: 'Correct what the first error of the compiler names; those below it often follow from it. Then build again, one job at a time, so that it stops there.',
    },
    PYTHON.test(context.situation.text) &&
      !/^(?:Unsupported|UserError|FailOn\w{1,40})$/.test(context.error?.name ?? '') && {
        text: 'See whether versions fit together: torch, triton and the GPU.',
        command: 'python -m pip list | grep -iE "torch|triton"',
      },
    openFrame(context),
  ],
}
