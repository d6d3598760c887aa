// How each language announces an uncaught error, and its frames below it: C++, Rust, Go, Java, Julia, R, Fortran, MATLAB and others.

export type Language = {
  /** Group `message`; `name` where the language names the error, `file` and `line` where the head says the place. */
  readonly head: RegExp
  /** Frames below it; groups `file` and `line`, or one after the other. */
  readonly frame?: RegExp
  /** The head is in what elsewhere counts as a prefix. */
  readonly raw?: true
  /** The process ends itself: native code. */
  readonly aborts?: true
  /** A line below it without which the head is an ordinary line. */
  readonly confirmed?: RegExp
  /** What the head is called where it has no name of its own. */
  readonly name?: string
  /** A line below the head that holds the message. */
  readonly message?: RegExp
  /** A line below that says it better. */
  readonly detail?: RegExp
  /** The best of them ends a stack of any depth. */
  readonly deep?: true
  /** What the error was raised from, which counts where the error itself says nothing of its own. Groups `name` and `message`. */
  readonly cause?: RegExp
  /** The message goes on up to a blank line. */
  readonly wrapped?: true
}

export const PYTEST = /^(?:FAILED|ERROR) \S{1,300}\.py\b|^={3,} .{0,80}\b\d{1,6} (?:failed|errors?)\b/
export const LANGUAGES: readonly Language[] = [
  // C++
  {
    aborts: true,
    head: /terminate called after throwing an instance of '(?:[\w:]{0,80}::)?(?<name>[\w<>]{1,80})[^']{0,200}'(?:\s{1,4}what\(\): {0,3}(?<message>[^\n]{1,400}?)(?:\s{1,4}Aborted(?: \(core dumped\))?)?$)?/,
    message: /^\s*what\(\): {0,3}(?<message>.*)$/,
  },
  // Wrapped behind its first words
  { aborts: true, head: /terminate called after throwing an instance of$/, name: 'terminate', message: /^\s*what\(\): {0,3}(?<message>.*)$/ },
  { aborts: true, head: /terminate called (?<message>without an active exception|recursively)/, name: 'terminate' },
  {
    aborts: true,
    head: /libc\+\+abi: terminating (?:due to|with) uncaught exception(?: of type (?:[\w:]{0,80}::)?(?<name>\w{1,80})[^:\n]{0,80})?(?:: (?<message>.*))?/,
    name: 'terminate',
  },
  // glibc's checks of heap and stack, and assert()
  {
    aborts: true,
    head: /(?:^|[\s\]%]|\*{3} Error in `[^'’]{1,200}['’]: )(?<message>(?:free|malloc|realloc|munmap_chunk|calloc|malloc_consolidate|_int_malloc)\(\): [^\n]{3,100}|double free or corruption[^\n]{0,40}|corrupted (?:size vs\. prev_size|double-linked list)[^\n]{0,40}|(?:\*{3} )?(?:stack smashing|buffer overflow) detected[^\n]{0,40})/,
    name: 'glibc',
  },
  // TCMalloc's, behind a bar without a line break
  { aborts: true, head: /tcmalloc\.cc:\d{1,5}\] (?<message>Attempt to free invalid pointer[^\n]{0,40})/, name: 'glibc' },
  { aborts: true, head: /^(?:[\w.+-]{1,60}: )?(?<file>[^\s:]{1,200}):(?<line>\d{1,6}): .{0,300}?(?<message>Assertion [`'].{1,300}' failed)/, name: 'assert' },
  // assert() of Windows, and of macOS
  {
    aborts: true,
    head: /^(?<message>Assertion failed: [^\n]{1,300}), (?:file (?<file>[^,\n]{1,300}), line (?<line>\d{1,6})$|function [^,\n]{1,200}, file \S{1,300}, line \d{1,6}\.$)/,
    name: 'assert',
  },
  // ggml, of llama.cpp and Ollama: its own assertions, and its check of each CUDA call, which names the call below
  {
    aborts: true,
    head: /(?:^|[\s.])(?:(?<file>(?:[A-Za-z]:)?[^\s:*?"]{1,200}\.(?:cpp|cuh?|c|h|m)):(?<line>\d{1,6}): )?(?<message>GGML_(?:ASSERT|ABORT)\(.{1,200}\) failed)/,
    name: 'assert',
  },
  // GGML_ABORT("fatal error"), of a case that its code does not know; a compiler says more after these words.
  {
    aborts: true,
    head: /^(?<file>(?:[A-Za-z]:)?[^\s:*?"]{0,200}\bggml[^\s:*?"]{1,200}\.(?:cpp|cuh?|c|h|m)):(?<line>\d{1,6}): (?<message>fatal error)$/,
    name: 'abort',
  },
  // GGML_ABORT with words of its own: file, line and reason, then the stack.
  {
    aborts: true,
    head: /^(?<file>(?:[A-Za-z]:)?[^\s:*?"]{1,200}\.(?:cpp|cuh?|c|h|m)):(?<line>\d{1,6}): (?<message>(?!Check fail)[^\n]{3,300})$/,
    confirmed: /\bggml_(?:print_backtrace|abort)\b/,
    name: 'abort',
  },
  { aborts: true, head: /(?<message>GGML_ASSERT: (?:[A-Za-z]:)?[^\s:*?"]{1,200}:\d{1,6}: [^\n]{1,200})$/, name: 'assert' },
  {
    aborts: true,
    head: /(?:^|\s)(?<message>(?:CUDA|ROCm|HIP|MUSA) error(?: \d{1,4})?(?: at [^\s:]{1,200}:\d{1,6})?: [^\n]{3,200})$/,
    confirmed: /^\s{1,4}current device: -?\d|\.(?:cu|cpp|cuh):\d{1,6}: (?:CUDA|ROCm|HIP|MUSA) error|in function ggml_/,
    name: 'CUDA error',
  },
  // flash-attention, hopper/utils.h: it prints, then ends with code 1
  { head: /^(?<message>CUDA error \([^)\n]{1,300}:\d{1,6}\): [a-z][^\n]{3,200})$/, name: 'CUDA error' },
  { aborts: true, head: /^(?<message>Failed: (?:Cuda|CUDA|HIP) error \S{1,200}:\d{1,6} '[^'\n]{3,200}')/, name: 'CUDA error' },
  // llama.cpp's loader
  {
    head: /\berror loading model: (?:error loading model architecture: )?(?!\w{1,40}: failed to load model(?: from|$))(?<message>[^"\n]{3,300})/,
    name: 'error',
  },
  // TensorRT-LLM's C++ side
  { head: /\[TensorRT-LLM\]\[ERROR\] (?:Encountered an error in \w{1,40} function: )?(?<message>(?!CUDA runtime error|\[)[^\n]{8,300})$/, name: 'error' },
  // glog and absl
  {
    aborts: true,
    head: /^(?:F\d{4} \d\d:\d\d:\d\d\S{0,16} {1,4}\d{1,10}|\d{4}-[\d :.-]{21}: F) (?<file>[\w./-]{1,120}):(?<line>\d{1,6})\] ?(?<message>.*)$/,
    name: 'check',
    raw: true,
  },
  // abort() in a program of Visual C++
  {
    aborts: true,
    head: /^(?:R6010\s{0,3}-? ?)?(?<message>abort\(\) has been called|This application has requested the Runtime to terminate it in an unusual way)/,
    name: 'abort',
  },
  // The sanitizers of gcc and clang; of a segmentation fault their signal is read
  {
    aborts: true,
    head: /^=+\d{1,10}=+ ?ERROR: (?:Address|HWAddress|Memory|UndefinedBehavior)Sanitizer: (?!SEGV)(?<message>[^\n]{3,300})/,
    frame: /^\s{1,8}#\d{1,3} 0x[0-9a-f]{4,16} in \S{1,300} (?<file>\/[^\s:]{1,300}\.(?:c|cpp|cxx|cc)):(?<line>\d{1,6})/,
    name: 'sanitizer',
  },
  // Kaldi: the program, its function, then the line
  {
    head: /^(?:ERROR|ASSERTION_FAILED) \([\w.-]{1,80}\[[\w.~+-]{1,40}\]:[^\n]{1,160}\):[\w.-]{1,80}\.(?:cc|h|cu):\d{1,6}\) ?:?(?<message>\S.*)$/,
    name: 'error',
  },
  // Omniverse's crash reporter
  { aborts: true, head: /\[Fatal\] \[carb\.\S{1,60}\] (?<message>(?!\d{3}: \S).*)$/, name: 'crash', raw: true },
  // Not NVIDIA's driver, which checks and goes on.
  { aborts: true, head: /(?:^|\s)(?<message>Check fail(?:ed|ure):? (?![^\n]{0,80}\[NV_ERR_)[^\n]{1,300})$/, name: 'check' },
  // Rust
  {
    aborts: true,
    head: /(?:thread '[^']{1,80}' (?:\(\d{1,10}\) )?|\bPANIC => |^)panicked at (?:'(?<message>[^\n]{0,400})'[,:] )?(?<file>(?:[A-Za-z]:)?[^\s:']{1,200}):(?<line>\d{1,6})(?::\d{1,6})?:?$/,
    name: 'panic',
    message: /^(?<message>\S.*)$/,
  },
  { aborts: true, head: /^fatal runtime error: (?<message>.*)$/, name: 'abort' },
  // Go, also behind a counter without a line break
  {
    aborts: true,
    head: /(?:^|\S(?=panic: runtime error))(?<name>panic|fatal error): (?<message>.*)$/,
    // Pasted without its tabs, and of what was inlined without an offset
    frame: /^\s{0,8}(?<file>\/\S{1,300}\.go):(?<line>\d{1,6})(?: \+0x|$)/,
  },
  // OpenACC of NVIDIA's compilers: the call, then file, function and line below each other
  {
    head: /^(?:Accelerator Fatal Error: (?<message>.*)|call to cu\w{2,40} returned error \d{1,3}\b.*)$/,
    name: 'error',
    frame: /^ {0,4}(?:File: (?<file>[^\s:]{1,300})|Line: (?<line>\d{1,6}))$/,
  },
  // pytest: the place of a failed test, and the list of those that failed behind it
  {
    head: /^(?<file>[\w./-]{1,200}\.py):(?<line>\d{1,6}): (?<name>[A-Z]\w{2,80})$/,
    confirmed: PYTEST,
  },
  // Compilers: gcc, clang, nvcc; the build stops because of it
  {
    head: /^(?<file>[^\s:(]{1,200}\.(?:cu|cuh|cc|cpp|cxx|c|h|hpp|hip))(?::(?<line>\d{1,6})(?::\d{1,6})?|\(\d{1,6}\)): (?:fatal )?error: (?<message>.*)$/,
    confirmed: /^ninja: build stopped|^\d{1,4} errors? (?:detected|generated)|^compilation terminated|^make(?:\[\d{1,2}\])?: \*{3} /,
    name: 'CompileError',
  },
  // Java, Kotlin, Scala
  {
    head: /^(?:Exception in thread "[^"]{1,80}" ){1,16}(?:[\w$]{1,60}\.){1,12}(?<name>\w{1,80})(?:: (?<message>.*))?$/,
    cause: /^Caused by: (?:[\w$]{1,60}\.){1,12}(?<name>\w{1,80})(?:: (?<message>.*))?$/,
    frame:
      /^\s{1,8}at (?!(?:java|javax|jdk|sun|scala|kotlin|org\.apache|io\.netty)[./])(?<own>[\w$]{1,60}(?:\.[\w$]{1,60}(?=\.[\w$<>]{1,80}\.))?)\.[\w$.<>/@]{1,300}\((?<file>[\w$]{1,80}\.(?:java|kt|scala)):(?<line>\d{1,6})\)/,
  },
  // Java's machine itself, before any program runs in it
  { head: /^Error occurred during initialization of (?:VM|boot layer)$/, name: 'error', message: /^(?<message>\S.*)$/ },
  // Node
  {
    head: /^(?:Uncaught )?(?<name>(?:\w{0,30}Error)|Error)(?: \[\w{3,60}\])?: (?<message>.*)$/,
    frame: /^\s{2,8}at (?:[^\n(]{1,200}\()?(?:file:\/\/)?(?<file>(?:\/|[A-Za-z]:\\)[^\s:)]{1,300}):(?<line>\d{1,6}):\d{1,6}\)?$/,
  },
  // C#
  {
    head: /^Unhandled exception[.:] (?:[\w]{1,60}\.){0,12}(?<name>\w{1,80})(?:: (?<message>.*))?$/i,
    frame: /^\s{2,8}at .{1,200} in (?<file>\S{1,300}):line (?<line>\d{1,6})/,
  },
  // Julia
  {
    head: /^(?:julia> )?ERROR: (?!GPU:\d{1,3}: )(?:(?:Load|Init)Error: ){0,4}(?:(?<name>[A-Z]\w{2,60}(?:Error|Exception)|[A-Z][a-z]\w{0,30}[A-Z]\w{1,40}(?=: |\("))(?:: |\(|:?$))?(?<message>.*)$/,
    detail: /^\s{2,8}nested task error: (?<message>(?!TaskFailedException$)\S.*)$/,
    frame: /(?:@ (?:[A-Z][\w.]{0,80} )?|\bat )(?<file>[^\s:]{1,300}\.jl):(?<line>\d{1,6})/,
    name: 'ErrorException',
  },
  // Snakemake, of a rule's own code and of the Snakefile
  {
    head: /^(?!CalledProcessError|RuleException|WorkflowError)(?<name>[A-Z]\w{1,60}(?:Error|Exception)) in file "(?<file>[^"\n]{1,300})", line (?<line>\d{1,6}):$/,
    message: /^(?<message>\S.*)$/,
  },
  {
    head: /^(?!CalledProcessError|RuleException|WorkflowError)(?<name>[A-Z]\w{1,60}(?:Error|Exception)) in line (?<line>\d{1,6}) of (?<file>\/[^:\n]{1,300}):$/,
    message: /^(?<message>\S.*)$/,
  },
  // R
  {
    head: /^ ?(?:Error in .{1,200}? :|(?:Fehler in|Errore in|Error en|Erreur dans) .{1,200}? ?:)(?: |$)(?<message>.*)$/,
    name: 'simpleError',
    message: /^ {1,2}(?<message>\S.*)$/,
    detail: /^ {1,2}(?<message>cannot open (?:compressed )?file '[^'\n]{1,300}'[^\n]{0,100})$/,
  },
  // R's cli and rlang: what failed, then why, each behind an exclamation mark
  {
    head: /^Error(?: in `[^`\n]{1,120}`)?:(?<message>)$/,
    name: 'rlang_error',
    confirmed: /^! \S/,
    detail: /^! (?<message>\S.*)$/,
    deep: true,
  },
  // Ruby, Lua, Perl, Fortran, MATLAB
  { head: /^(?<file>[^\s:]{1,200}\.rb):(?<line>\d{1,6}):in [`'][^']{1,100}': (?<message>.*?) \((?<name>[A-Z][\w:]{2,80})\)/ },
  {
    head: /^(?:\S{1,160}\/)?lua(?:jit)?[\d.]{0,4}: (?:\S{1,200}\.lua:\d{1,6}: ){0,8}(?<message>\S.*)$/,
    frame: /^\s{0,8}(?<file>[^\s:[\]]{1,200}\.lua):(?<line>\d{1,6}): in /,
    confirmed: /^stack traceback:$/,
    name: 'error',
  },
  { head: /^(?<message>.{3,300}) at (?<file>\S{1,200}\.p[lm]) line (?<line>\d{1,6})\.$/, name: 'die' },
  {
    head: /^At line (?<line>\d{1,6}) of file (?<file>[^\s()]{1,300})(?: \(unit = |$)/,
    name: 'runtime error',
    message: /^Fortran runtime error: (?<message>.*)$/,
  },
  { head: /^Fortran runtime error: (?<message>.*)$/, name: 'runtime error' },
  // Intel's Fortran
  { head: /^forrtl: (?:severe|error) \(\d{1,4}\): (?!(?:process killed \()?SIG)(?<message>\S.*)$/, name: 'error' },
  // GROMACS
  {
    head: /^(?:Fatal error|Error in user input|Inconsistency in user input|File not found|Out of memory|System I\/O error|Requested tolerance cannot be achieved|Simulation instability detected|Feature not implemented|Assertion failed|Communication \(parallel processing\) problem|Modular simulator error|[A-Z][a-zA-Z ]{4,40} \((?:possible )?bug\)):$/,
    name: 'error',
    message: /^(?<message>\S.*)$/,
    wrapped: true,
    confirmed: /GROMACS|use the -maxwarn option/,
  },
  // PETSc
  {
    head: /^(?:\[\d{1,6}\])?PETSC ERROR: -{5,60} Error Message -{5,80}$/,
    name: 'error',
    message: /^(?:\[\d{1,6}\])?PETSC ERROR: (?!-)(?<message>\S.*)$/,
  },
  // HDF5, in C and Fortran; what is only not there, programs ask for. The last of its stack says what the system said
  {
    head: /^HDF5-DIAG: Error detected in HDF5 \(/,
    name: 'HDF5',
    detail: /^\s{0,8}#\d{3}: \S{1,300} line \d{1,6} in \w{1,60}\(\): (?<message>\S.{3,400})$/,
    deep: true,
    confirmed:
      /\bin H5\w{1,60}\(\): (?:unable to (?:synchronously )?(?:open file|create (?:file|dataset)|lock file|truncate|flush|read superblock)|can't (?:synchronously )?(?:read|write) data|file (?:read|write) failed|truncated file)\b/,
  },
  // OpenFOAM; in parallel each line begins with the number of its process
  {
    head: /^\s{0,8}(?:\[\d{1,6}\] )?--> FOAM FATAL (?:IO )?ERROR ?:/,
    name: 'error',
    message: /^\s{0,8}(?:\[\d{1,6}\] )?(?!\[\d{1,6}\]\s*$)(?<message>\S.*)$/,
  },
  // Quantum ESPRESSO, between two lines of percent signs
  {
    head: /^\s{0,8}(?:Error in routine {1,3}\w{1,60} {0,3}\(|from {1,3}\w{1,60} {0,3}: error #)\s{0,12}-?\d{1,9}\)?:?$/,
    name: 'error',
    message: /^\s{0,8}(?![%\s])(?<message>\S.*)$/,
    confirmed: /^\s{0,8}stopping \.\.\./,
  },
  { head: /^(?:FATAL|Fatal) ERROR: (?<message>.{8,400})$/, name: 'error' },
  // MATLAB: the function, then what it says
  { head: /(?:^|\d\/ {0,4}\d{1,6}:)Error using \S{1,100}(?: \(line \d{1,6}\))?$/, name: 'error', message: /^(?<message>\S.*)$/ },
]
/** A line without any of them begins no error. */
export const MAY =
  /GGML_|tcmalloc|Sanitizer: |\.(?:cpp|cuh?):\d{1,6}: |error loading model|(?:CUDA|ROCm|HIP|MUSA|Cuda) error|\[ERROR\]|terminat|corrupt|detected|HDF5-DIAG|\(\): |ssertion|Check fail|panic|fatal |^[A-Z][\w/ ]{4,40}(?: \((?:possible )?(?:bug|parallel processing)\)(?: problem)?)?:$|^Exception in thread "|^Error occurred|abort\(\) has|requested the Runtime|Error(?: \[\w+\])?: |Unhandled|\bERROR: |^ERROR \(|^ ?Error(?: |:$)|^Fehler |Error using |Error in routine |: error # |(?:Error|Exception) in (?:file "|line \d)|call to cu|^Accelerator |\.rb:|^(?:\S{1,160}\/)?lua(?:jit)?[\d.]{0,4}: |\.p[lm] line|Fortran|^At line \d|^forrtl: |FATAL|\.py:\d|: (?:fatal )?error: /
export const MAY_RAW = /^F\d{4} |^\d{4}-.{21}: F |\[Fatal\]/
