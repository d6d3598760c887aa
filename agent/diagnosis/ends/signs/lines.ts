// Single lines that say why a program ended, without a traceback: refused arguments, a missing program, an error record at the end.
import type { ReadLine } from '../../traceback/line.ts'
import type { ErrorSign, Found } from '../evidence.ts'
import { formOf } from '../which-counts.ts'
import { fatalRecord } from './fatal-record.ts'
import { endsSo, givesUp } from './giving-up.ts'

type Form = readonly [name: string, pattern: RegExp, above?: RegExp]
/** Group `message`. The name tells the kinds who spoke. `above`: what the line before it must say. */
const FORMS: readonly Form[] = [
  // LLVM's allocator, of whatever program compiles with it
  ['message', /^(?<message>LLVM ERROR: out of memory)/],
  [
    'message',
    /^(?:\[[^\]\n]{1,80}\] ?)?\*{3} (?<message>An error occurred in MPI_\w{1,40}|The MPI_\w{1,40}\(\) function was called (?:before|after) MPI_\w{1,40} was invoked)\b/,
  ],
  ['message', /^(?:srun|sbatch|salloc|qsub|bsub): error: (?<message>(?:Unable to allocate resources|Batch job submission failed): [^\n]{1,300})$/],
  ['message', /^(?:srun|sbatch|salloc|squeue|sinfo|scancel|scontrol|sacct): fatal: (?<message>[^\n]{4,300})$/],
  // Open MPI, on the ranks that still run
  ['message', /^(?:\[[^\]\n]{1,80}\] ?)?(?<message>An MPI communication peer process has unexpectedly disconnected)\b/],
  ['message', /^(?<message>\[enforce fail at alloc_cpu\.cpp:\d{1,5}\][^\n]{0,400}|memory allocation of \d{1,18} bytes failed)/],
  ['message', /(?<message>\bCUDA failure: cu\w{2,40}\(\)[^\n]{0,200}?returned \d{1,3}\b[^\n]{0,40})/],
  ['message', /^(?:docker: Error response from daemon: |&&&& )(?<message>(?:manifest|pull access|FAILED TensorRT)[^\n]{4,300})/],
  // Jupyter, Spyder, VS Code
  ['record', /^(?<message>(?:The )?[Kk]ernel (?:for \S{1,120} )?(?:(?:appears to have |has )?died|crashed while executing code)[^\n]{0,160})/],
  // Its server, which starts a new one
  ['record', /(?<message>\b(?:AsyncIOLoop)?KernelRestarter: restarting kernel\b[^\n]{0,60})/],
  ['record', /(?<message>\b(?:(?:llama )?runner|llama-server) process (?:has|is|no) [^"\n]{0,300})/],
  ['record', /(?<message>\b(?:A worker died or was killed while executing|The actor is dead because its worker process has died)[^\n]{0,900})/],
  // Spark's driver
  ['record', /(?<message>\b(?:Lost executor \S{1,40} on \S{1,120}: |ExecutorLostFailure \(executor \S{1,40} exited )[^\n]{1,600})/],
  // Blender's, of its compiled kernels
  ['message', /^(?<message>CUDA error at cu\w{2,40}: [^\n]{3,100})$/],
  // uvicorn, of the processes that answer
  ['record', /^INFO: {1,8}(?<message>Child process \[\d{1,10}\] died)$/],
  // TensorFlow's log, of level W
  ['record', /: (?:Aborted|Unknown|Cancelled): (?<message>Horovod has been shut down\.[^\n]{0,400})/],
  // PyTorch's sockets, of levels E and W: a rank that cannot reach the first one
  ['record', /\[[EW][^\]\n]{0,60}socket\.cpp:\d{1,5}\] (?:\[c10d\] )?(?<message>The (?:client|server) socket has (?:failed|timed out)[^\n]{0,300})/],
  [
    'usage',
    /^(?:[\w./-]{1,120}(?: [\w-]{1,30}){0,2}: )?(?<message>error: (?:unrecognized|the following (?:required )?|argument \S{1,80}|ambiguous|invalid choice|unexpected argument|one of the|too few|expected (?:one|at)|No such option|Missing option)\b[^\n]{0,400})/i,
  ],
  // llama.cpp
  ['message', /^(?:\w{1,60}: )?error: (?<message>HTTPLIB failed: [^\n]{3,200})$/],
  ['usage', /^(?<message>error while handling argument "[^"\n]{1,60}": [^\n]{1,300})$/],
  [
    'usage',
    /^(?:Error for command ["“][\w-]{1,30}["”]: )?(?<message>(?:Error: )?(?:unknown (?:flag|shorthand flag|option|command|argument)|[Uu]nrecognized (?:command[- ]line |or misplaced )?(?:option|argument)s?|invalid option|[Nn]o such (?:option|command)|Missing (?:option|argument|parameter|command)|Got unexpected extra argument|Invalid value for)\b[^\n]{0,300})/,
  ],
  ['usage', /^[\w./-]{1,120}: (?<message>(?:unknown|unrecognized|invalid|illegal) option\b[^\n]{0,200}|(?:missing|extra) operand\b[^\n]{0,200})/],
  [
    'usage',
    /^(?<message>(?:Could not override '[^'\n]{1,160}'\.(?=$| No match)|(?:Could not override|Could not find|You must specify|Key ')[^\n]{0,240}(?:not in struct|config group|primary config))[^\n]{0,100})/,
  ],
  // Hydra, which leaves the names of its own exceptions out
  [
    'usage',
    /^(?<message>Error locating target '[^'\n]{1,200}'[^\n]{0,120}|Key '[^'\n]{1,80}' (?:is )?not in '\w{1,80}'|In '[^'\n]{1,200}': (?:Could not|ConfigKeyError|Validation|ValueError)[^\n]{1,300}|Error parsing override '[^\n]{1,300}|Primary config (?:module|directory|file)[^\n]{0,200} not found\.?|You must specify '[\w/@]{1,80}', e\.g,? [^\n]{1,80}|Could not (?:append to|delete from) config\. [^\n]{1,200}|Ambiguous value for argument '[^\n]{1,200}|Multiple values for [\w.@/]{1,80}\. [^\n]{1,200}|Environment variable '\w{1,80}' not found|Interpolation key '[^'\n]{1,120}' not found|Missing mandatory value: [\w.]{1,120})$/,
  ],
  ['ValidationError', /^(?<message>\d{1,4} validation errors? for \w[^\n]{0,200})$/],
  // behind the seconds of a build of Docker, too
  ['shell', /^(?:\d{1,5}\.\d{1,3} )?(?:\S{1,200}: )?(?:line \d{1,6}: |\d{1,6}: (?:\S{1,200}: )?)?(?<message>[\w./+-]{1,200}: (?:command )?not found)$/],
  // cmd and PowerShell, in the languages of Windows
  [
    'shell',
    /^(?:\w+ ?: )?(?<message>['"“«»„]?[^'"“”«»„\n]{1,80}['"”»“]? ?(?:is not recognized as an internal or external command|不是内部或外部命令|ist entweder falsch geschrieben oder|n'est pas reconnu en tant que commande interne)[^\n]{0,80})/,
  ],
  ['shell', /(?<message>(?:The term ['‘]|无法将[“"])[^'’“”"\n]{1,80}['’”"](?: is not recognized as (?:the|a) name of a|项识别为)[^\n]{0,40})/],
  // CMake and Ninja, whose own compilers say why above
  ['compiler', /^(?<message>-- Configuring incomplete, errors occurred!|ninja: build stopped: [^\n]{4,100})/],
  // uv run
  ['shell', /^error: (?<message>Failed to spawn: `[^`\n]{1,120}`)$/],
  // poetry run
  ['shell', /^(?<message>Command not found: [\w./+-]{1,120})$/],
  // make, where the program of a rule is not there
  ['shell', /^g?make(?:\[\d{1,3}\])?: (?<message>[\w./+-]{1,120}: (?:No such file or directory|Permission denied))$/],
  [
    'shell',
    /(?<message>exec(?:: \\?"[^"]{1,200}"| [^\s:]{1,200}|\(\))?:? ?(?:stat \S{1,300}: )?(?:executable file not found in \$PATH|no such file or directory|permission denied|exec format error))/,
  ],
  // environment modules, Lmod
  ['shell', /^(?<message>"[\w./+-]{1,80}")$/, /The following module\(s\) are unknown:\s*$/],
  ['shell', /(?<message>\bThe following module\(s\) are unknown: [^\n]{1,200}|\bUnable to locate a modulefile for [^\n]{1,200})/],
  // SPECFEM: what is wrong, then that it ends all ranks
  ['above', /^ {0,2}Error detected, aborting MPI\.\.\.(?<message>)/, /[a-z]{3}/i],
  // Lua, Torch 7
  ['message', /^(?:\S{1,160}\/)?lua(?:jit)?[\d.]{0,4}: (?<message>\S{1,200}\.lua:\d{1,6}: [^\n]{1,300})$/],
  // Hydra, where the traceback is kept elsewhere
  ['message', /(?<message>\bError executing job with overrides: \[[^\n]{0,300})/],
  ['test', /^(?<exception>[A-Z]\w{2,80})\((?:"(?<message>[^\n]{1,400})"|'(?<quoted>[^\n]{1,400})'),?\)$/, /^Error in call to target '/],
  // systemd
  ['shell', /: Failed at step EXEC spawning (?<message>\S{1,300}: (?:Permission denied|No such file or directory|Exec format error))$/],
  ['shell', /^(?:\S{1,60}\/)?env: (?<message>[‘'][\w./+-]{1,120}[’']: No such file or directory)$/],
  ['usage', /^FATAL Flags parsing error: (?<message>[^\n]{4,300})/],
  ['shell', /^(?:slurmstepd\S{0,60}: error: )(?<message>execve\(\): [^\n]{1,300})/],
  ['shell', /^(?:\S{1,120}: )?(?<message>error while loading shared libraries: [^\n]{1,300})/],
  ['shell', /^(?:\S{1,120}: )(?<message>symbol lookup error: [^\n]{1,400})/],
  ['shell', /^(?<message>error: (?:could not compile|failed to run custom build) [^\n]{1,200})/],
  // set -u
  ['shell', /^\S{1,200}: line \d{1,6}: (?<message>\w{1,80}: (?:unbound variable|parameter (?:null or )?not set))$/],
  // LAMMPS, RELION and others, with the line of their own source
  ['message', /^ERROR(?: on proc \d{1,6})?: (?<message>[^\n]{4,300} (?:\(|in )[\w./-]{1,120}\.(?:cpp|cuh?|h)(?::| at line )\d{1,6}\b[^\n]{0,40})$/],
  // Nextflow, where it does not try again
  ['message', /^\s{0,4}(?<message>Missing output file\(s\) `[^`\n]{1,200}` expected by process `[^`\n]{1,160}`)$/],
  // NAMD
  ['message', /^ERROR: (?<message>[^\n]{4,120}; simulation has become unstable\b[^\n]{0,100})$/],
  ['shell', /^tar: (?<message>[^\n]{1,300}: Cannot (?:open|stat|mkdir): [^\n]{4,80})$/],
  // Python's, without its exception
  ['message', /^(?<message>No such file or directory: ['‘][^'’\n]{1,300}['’])$/],
  // h5py's message alone
  [
    'message',
    /^["']?(?<message>(?:Unable to|Can't) (?:synchronously )?(?:open|read|write|create|flush) (?:file|object|data|dataset|group) \((?:file (?:read|write) failed|unable to|addr overflow|truncated|bad )[^\n]{4,600}\))["']?$/,
  ],
  // zsh says it the other way round
  ['shell', /^(?<message>zsh: (?:permission denied|no such file or directory): [^\n]{1,300})$/],
  // py_compile
  ['test', /^Sorry: (?<exception>IndentationError|TabError|SyntaxError): (?<message>[^\n]{1,300})$/],
  // pytest, of a module that it could not import
  ['test', /^E {3}(?:[\w.]{1,100}\.)?(?<exception>ModuleNotFoundError|ImportError): (?<message>[^\n]{1,300})$/],
  // pytest's list of what failed
  ['test', /^(?:FAILED|ERROR) \S{1,300}\.py(?:::\S{1,200})? - (?:[\w.]{1,100}\.)?(?<exception>[A-Z]\w{2,80})(?:: (?<message>[^\n]{1,300}))?$/],
  // SageMaker's toolkit quotes the last line of the traceback
  [
    'test',
    /^ErrorMessage "[: ]{0,3}(?:raise )?(?:[\w.]{1,100}\.)?(?<exception>[A-Z]\w{2,80}(?:Error|Exception))(?:: (?<message>[^\n]{1,400}?)|\([^\n]{0,200})?"?$/,
  ],
  [
    'shell',
    /^(?:-?(?:\/\S{1,60}\/)?(?:ba|z|da|k|a)?sh: (?:line \d{1,6}: |\d{1,6}: )?|\S{1,200}: line \d{1,6}: )(?:(?:cd|source|\.): )?(?<message>[^\n:]{1,300}: (?:No such file or directory|Permission denied|cannot execute[^\n]{0,80}|Is a directory|Exec format error))$/,
  ],
  ['message', /^(?<message>ssh: (?:connect to host|Could not resolve hostname) [^\n]{1,300})$/],
  [
    'python',
    /^\S{0,200}python[\d.]{0,5}: (?<message>(?:can't open file|No module named|can't find '__main__'|Error while finding module specification for)[^\n]{1,400})/,
  ],
  ['message', /^[\w./-]{1,80}: (?<message>[^\n]{1,300}: (?:Input\/output|Stale|Remote I\/O|Transport endpoint) [\w ]{4,40})$/],
  ['library', /(?<message>version [`'][A-Z]{3,8}_[\d.]{1,12}' not found[^\n]{0,200})/],
  ['r', /^Error in (?:library|loadNamespace|require)\([^\n]{1,100}(?<message>there is no package called .{1,80})/],
]
/** A record of level ERROR, and c10d's: its message is judged as that of an exception. */
const ERROR_RECORD = /^(?:(?:\[E|E\d{4}|\[?(?:ERROR|CRITICAL|FATAL)\b|.{0,120}?\b(?:ERROR|CRITICAL|FATAL)\b)[^\n]{0,160}?(?:\]|:| -) ?)(?<message>[^\n]{8,600})/
/** vLLM's, and glog's and klog's with a letter for the level before the date. */
const LOGGER_ERROR = /^(?:\([^()\n]{1,80}\) ?)?(?:ERROR|CRITICAL) \d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})? \[[\w./-]{1,80}:\d{1,6}\] (?<message>[^\n]{8,600})/
const KLOG_ERROR = /^\[?E\d{4} \d\d:\d\d:\d\d\S{0,16} {1,8}\d{1,10} [\w./-]{1,80}:\d{1,6}\] ?(?<message>[^\n]{8,600})/
/** Last words without any other form. */
/** As perror(3) prints it: who, what, and the system's words. And `Conversion failed!` */
const SYSTEM_WORDS =
  /^(?<message>[\w./-]{1,160}: (?:[^\n]{1,300}: )?(?:Permission denied|Operation not permitted|Exec format error|Text file busy|Read-only file system)|(?:[^\n:]{1,120}: )?[\w./-]{1,160}\.\w{1,5}: No such file or directory|(?:[^\n:]{1,120}: )?(?:open|l?stat|read|mkdir|chdir|fork\/exec) \S{1,300}: (?:no such file or directory|permission denied|is a directory|not a directory|no space left on device)|[^\n]{1,300}: bad interpreter: [^\n]{4,60}|curl: \(\d{1,3}\) [^\n]{4,300}|(?:wget|unzip|gzip|rsync|scp): (?!warning|\d)[^\n]{4,300}|(?:cp|mv|ln|cat|cd|install|chmod|chown|mkdir|touch|head|tail|dd|tee|sort): (?:cannot|error|failed)[^\n]{3,300}: (?:No such file or directory|Not a directory|Is a directory|File exists|No space left on device|Invalid argument)|rsync error: [^\n]{4,300}|\w+(?: \w+){0,3} failed!|Exiting because [^\n]{4,200})$/
/** What git answers to a program that only asks which commit it runs is left out. */
const LAST_WORDS =
  /^(?!fatal: (?:not a git repository|detected dubious ownership|No names found|no tag exactly matches|ambiguous argument|bad revision|No such remote))(?:(?:fatal|FATAL|Fatal|error|Error|ERROR|CRITICAL)(?: error)?|[\w.-]{1,40}: (?:fatal|error|FATAL|ERROR)|[\w.-]{1,40}\.(?:py|sh|pl|R|jl)(?=: (?![^\n]{0,200}(?:[Ww]arn|[Ss]kip|[Ii]gnor|[Cc]ontinu|fall(?:ing|s)? back|\busing\b|default))[^\n]{0,200}\b(?:cannot|can't|could not|unable|failed|missing|invalid|unknown|not found|no such|must|refus\w{2,3})\b)): {0,4}(?!\*{3} (?:JOB|STEP) \d)(?=[^\n]{0,80}[^\W\d_]{2})(?<message>\S[^\n]{2,600})$/
/** An exception as repr() writes it, behind words that say a failure: `Training failed: ValueError('…')`. */
const REPR =
  /^(?![^\n]{0,200}(?:[Ww]arn|WARN|[Ss]kip|[Ii]gnor|fall(?:ing|s)? back|[Cc]ontinu))[^\n]{0,300}(?:[Ff]ailed|[Cc]rashed|[Aa]borted|[Ee]rror(?:ed)?|[Ee]xception|ERROR|FATAL|FAIL)\b[^\n]{0,200}?[ :](?:[\w.]{1,80}\.)?(?<exception>[A-Z]\w{2,80}(?:Error|Exception|Exit))\((?:"(?<message>[^\n]{1,400})"|'(?<quoted>[^\n]{1,400})'),?\)\.?$/
/** The same as `print(f"… failed: {type(e).__name__}: {e}")` writes it, or with the place: `FATAL KeyError at fit.py:11: 'peak'`. */
const NAMED =
  /^(?![^\n]{0,300}(?:[Ww]arn|WARN|[Ss]kip|[Ii]gnor|fall(?:ing|s)? back|[Cc]ontinu|[Rr]etr(?:y|ied)))[^\n]{0,200}?\b(?:[Ff]ailed|[Cc]rashed|[Aa]borted|[Ee]rror|[Ee]xception|ERROR|FATAL|CRITICAL|FAIL(?:ED)?)\b[^\n]{0,160}?[ :](?:[\w.]{1,80}\.)?(?<exception>[A-Z]\w{2,80}(?:Error|Exception))(?: (?:at|in) (?<file>\S{1,300}\.py):(?<row>\d{1,7}))?: (?<message>[^\n]{1,400})$/
/** The stack of a program in Go, below its fatal record. */
const GO_STACK = /^\s{1,8}\S{1,300}\.go:\d{1,6}$|^(?:[\w.-]{1,60}\/){0,6}[\w-]{1,60}\.[\w.()*{}]{1,120}$/
/** What a launcher adds below the last words of its program. */
const LAUNCHER =
  /^(?:wandb: ERROR )?Detected \d{1,3} failed runs in the first |^wandb: ERROR Run \w{1,20} errored: |^(?:srun|slurmstepd\S{0,60}|g?make(?:\[\d{1,3}\])?|mpi(?:run|exec)): |\bProcess completed with exit code \d|^exit status \d{1,3}$/
const MAY =
  /rror|ERROR|enforce fail|not found|o such|locating|Key '|onfig |^In '|ust specify|mandatory|ermission|[Cc]an't |annot |nable to|\bmust |ailed to conn|put\/output|Stale |imed out|xec|unknown|nvalid|nrecognized|issing|FATAL|CRITICAL|errors occurred!|^ninja: |^curl: |^wget: |^unzip: |^gzip: |^rsync|^scp: |CUDA failure|atal|\[E |validation error|^E\d{4}|override|Is a dir|ernel |not in struct|FAILED|^ssh: |peration not|Text file|ead-only|unbound|not set|failed|has been shut|peer process has|because |\.lua:\d|are unknown: |^"\S+"$|ommand not|recognized as|内部或外部|项识别为|falsch geschrieben|reconnu en|executing job with|modulefile|unction was called|\] died$|iving up|nrecover|bort(?:ed|ing)\b/
/** pip, uv and conda, which indent what a build said. */
const INSTALLER =
  /^[\s×│╰├─▶>]{0,16}(?:ERROR: |error: |Error: )?(?<message>Failed to (?:download and )?build `[^\n]{1,120}|Could not find a version that satisfies [^\n]{1,20000}|No matching distribution found for [^\n]{1,300}|Package '[^'\n]{1,80}' requires a different Python[^\n]{1,200}|\S{3,200}\.whl is not a supported wheel[^\n]{0,80}|No solution found when resolving dependencies[^\n]{0,300}|externally-managed-environment|command '[^'\n]{0,200}(?:nvcc|gcc|g\+\+|clang\+{0,2}|cl\.exe)' failed with exit \w{4,6} \d{1,4}|ResolutionImpossible[^\n]{0,80}|Cannot install [^\n]{1,300} because these package versions have conflicting dependencies|Cannot uninstall [^\n]{1,300}|THESE PACKAGES DO NOT MATCH THE HASHES[^\n]{0,80}|[^\n]{1,200} does not appear to be a Python project[^\n]{0,120}|(?:Microsoft Visual C\+\+ 14|error in \S{1,60} setup command: )[^\n]{1,200}|invalid command 'bdist_wheel'|Compatibility with CMake < 3\.5[^\n]{0,80}|<urlopen error [^\n]{1,200}|Extra build requirement [^\n]{1,200}|\S{0,200}meson\.build:\d{1,5}:\d{1,4}: ERROR: [^\n]{1,300}|(?:PackagesNotFoundError|LibMambaUnsatisfiableError|UnsatisfiableError|ResolvePackageNotFound)\b[^\n]{0,300})/
/** The first error of a compiler of C, C++ or CUDA in a build; what `configure` tries out is no failure. */
const COMPILER =
  /^\s{0,16}(?!\S{0,200}(?:conftest|CMakeScratch|CMakeTmp|try_compile))(?:(?<file>\S{1,300}?\.(?:cuh?|cpp|cxx|cc|[cChH]|hpp|hxx|inl|hip))(?:\((?<row>\d{1,6})\)|:(?<line>\d{1,6})(?::\d{1,6})?) ?: |nvcc |ptxas (?:\S{1,300}, line \d{1,8}; )?|(?:cc1plus|c\+\+|g\+\+|gcc|clang)\S{0,6}: )(?<message>(?:fatal )?error {0,4}(?:C\d{4})? {0,4}: [^\n]{3,300}|fatal +: [^\n]{3,300})/
/** A compiler that the user started names files of the folder where it was; pip indents its builds, and they are elsewhere. */
const NOT_OWN = /^(?:[A-Za-z]:)?[\\/]|(?:^|[\\/])(?:site-packages|dist-packages|usr|opt)[\\/]/
const INSTALL_WORDS =
  /version|distribution|supported wheel|' failed with exit |o build `|o download and build|No solution|managed|onflicting|Resolution|uninstall|HASHES|Python|Visual|setup command|bdist|CMake|urlopen|NotFound|nsatisfiable|build requirement|meson\.build:/
const INDENTED = /aborting MPI|^ {1,4}Missing output file/
const NOT = /^wandb|^\s|^pip|^ERROR: pip|0 errors|error rate|no error|errors?[:=] ?0|Retry|retry|\bTry(?:ing)? to resume/

const baseOf = (file: string): string => file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1)

export type LineReader = { readonly add: (line: ReadLine, found: Found) => void; /** What the very last line says. */ readonly end: (found: Found) => void }

/** Said so often before, it stopped nothing. */
const GONE_ON = 3
const MOST_FORMS = 256
export function createLineReader(): LineReader {
  let lastWords: ErrorSign | undefined
  let compiled = false
  let installed = false
  let unbuilt: ErrorSign | undefined
  let before = ''
  let ofGo = false
  /** Last words of one form, and how often the program went on after them. */
  const forms = new Map<string, number>()
  const signOf = (line: ReadLine, name: string | undefined, message: string): ErrorSign => ({
    type: 'error',
    at: line.number,
    last: line.number,
    line: line.number,
    text: line.raw,
    error: { name, module: undefined, message, tail: '', frames: [], causes: [] },
    frame: undefined,
    weak: true,
    wrapper: false,
    facts: { ...(line.rank === undefined ? {} : { rank: line.rank }), ...(name === 'ValidationError' ? { exception: name } : {}) },
  })
  return {
    add(line, found) {
      // Of a box, as click and rich draw one around an error.
      const text = line.text.replace(/ {1,400}[│┃]\s*$/, '').trimEnd()
      // A fence of Markdown is below what was pasted.
      if (text.trim() === '' || /^`{3,4}\w{0,10}$/.test(text)) return
      const above = before
      before = text.slice(-200)
      const launcher = LAUNCHER.test(text) || (ofGo && GO_STACK.test(text))
      if (!launcher) {
        ofGo = false
        if (lastWords !== undefined && forms.size < MOST_FORMS) forms.set(formOf(lastWords), (forms.get(formOf(lastWords)) ?? 0) + 1)
        lastWords = undefined
      }
      const install = text.length < 24_000 && INSTALL_WORDS.test(text) ? INSTALLER.exec(text)?.groups?.['message'] : undefined
      if (install !== undefined) {
        const sign = signOf(line, 'install', install)
        // uv names the package first, and says below it why it could not be built.
        if (install.startsWith('Failed to ')) unbuilt ??= sign
        else {
          installed = true
          found(sign)
        }
        return
      }
      const fatal = fatalRecord(text)
      if (fatal !== undefined) {
        lastWords = signOf(line, 'message', fatal)
        ofGo = true
        found(signOf(line, 'record', fatal))
        return
      }
      if (text.length > 2_000 || !MAY.test(line.raw)) return
      const compiler = compiled ? undefined : COMPILER.exec(text)?.groups
      if (compiler?.['message'] !== undefined) {
        compiled = true
        const { file, line: row = compiler['row'], message } = compiler
        const sign = signOf(line, 'compiler', message)
        found(
          file === undefined || row === undefined || !text.startsWith(file) || NOT_OWN.test(file)
            ? sign
            : { ...sign, facts: { ...sign.facts, frame: `${baseOf(file)}:${row}` } },
        )
        return
      }
      if ((NOT.test(text) || NOT.test(line.raw)) && !INDENTED.test(text)) return
      for (const [name, pattern, over] of FORMS) {
        if (over?.test(above) === false) continue
        const groups = (name === 'record' ? pattern.exec(line.raw) : pattern.exec(text))?.groups
        if (groups === undefined) continue
        const { quoted, message = quoted ?? '', exception } = groups
        const sign =
          name === 'above'
            ? signOf(line, 'message', above.trim())
            : signOf(line, exception ?? name, name === 'shell' && over !== undefined ? `${above.trim()} ${message}` : message)
        found(exception === undefined ? sign : { ...sign, facts: { ...sign.facts, exception } })
        return
      }
      const message = (LAST_WORDS.exec(text) ?? SYSTEM_WORDS.exec(text))?.groups?.['message']
      if (message !== undefined && !(launcher && lastWords !== undefined)) lastWords = signOf(line, 'message', message)
      else if (lastWords === undefined && !launcher && !line.record && endsSo(text)) lastWords = { ...signOf(line, 'message', text.trim()), alone: true }
      const { exception, message: quote, quoted = quote } = (launcher ? undefined : REPR.exec(line.raw)?.groups) ?? {}
      if (exception !== undefined && quoted !== undefined) {
        const sign = signOf(line, exception, quoted)
        lastWords = { ...sign, facts: { ...sign.facts, exception } }
        return
      }
      const named = launcher ? undefined : NAMED.exec(line.raw)?.groups
      // What a logger records is said of a part of the work, too.
      if (named?.['exception'] !== undefined && (!line.record || /^(?:FATAL|CRITICAL)\b/.test(text))) {
        const { exception: name, file, row, message: words = '' } = named
        const sign = signOf(line, name, words)
        const frame = file === undefined || row === undefined ? {} : { frame: `${baseOf(file)}:${row}` }
        lastWords = { ...sign, facts: { ...sign.facts, exception: name, ...frame } }
      }
      const record =
        (KLOG_ERROR.exec(line.raw) ?? LOGGER_ERROR.exec(line.raw))?.groups?.['message'] ??
        (line.level === 'error' || line.raw.startsWith('[E ') ? ERROR_RECORD.exec(line.raw)?.groups?.['message'] : undefined)
      if (record === undefined) return
      const raised = named?.['exception']
      if (raised === undefined && lastWords === undefined && givesUp(line.raw, record)) lastWords = signOf(line, 'message', record)
      const sign = signOf(line, 'record', record)
      found(raised === undefined ? sign : { ...sign, facts: { ...sign.facts, exception: raised } })
    },
    end(found) {
      if (unbuilt !== undefined && !installed && !compiled) found(unbuilt)
      if (lastWords !== undefined && (forms.get(formOf(lastWords)) ?? 0) < GONE_ON) found(lastWords)
    },
  }
}
