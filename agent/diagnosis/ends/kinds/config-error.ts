// The program rejects its settings: arguments, configuration files, combinations that it does not support.
import type { Facts } from '../../../model/facts.ts'
import { frameName } from '../../traceback/user-frame.ts'
import { asks } from '../asks.ts'
import { choicesIn } from '../choices.ts'
import { WEIGHT, anyOf, openFrame, pathIn, quote, raises, saying, says, type EndKind, type EndContext } from '../end-kind.ts'
import { failedCall } from '../failed-call.ts'
import { caller } from '../messages/packages.ts'
import type { Piece } from '../../faults/remedies/plan.ts'
import { INFERENCE, PROGRAM_NAMES, type Program } from '../../situation/programs.ts'
import type { Situation } from '../../situation/situation.ts'

const REFUSES =
  /(?:is|are) not divisible by|(?:must|should|has to|have to|needs to) be (?:evenly )?divisible by|[Mm]ust be (?:a multiple|an? (?:positive |non-negative )?(?:integer|float|number|value|fraction)\b|large|larger|smaller|at (?:least|most)|one of|either|specified|provided|set|positive|greater|less|between|in the range|> ?0|>= ?\d)|should be (?:one of|either|a multiple|an? (?:positive |non-negative )?(?:integer|float|number)\b|(?:larger|greater|less|smaller) than)|(?:has|have|needs?) to be (?:specified|provided|set)|expected one of|is not (?:a valid|valid for|one of|among)\b|not in the list of|[Ii]nvalid (?:generic resource|[\w() ]{1,40} specification)|(?<!found )[Ii]nvalid (?:[a-z]{2,20}(?:_[a-z]{1,20}){1,5}\b|value|option|choice|argument|setting|config\w{0,12}|combination)|mutually exclusive|(?:cannot|can't|can not) be (?:used|combined|set|specified) (?:with|together|both|at the same time|when|if|unless)|\bor \w{1,40} cannot be used|(?:does|do) not (?:currently |yet )?(?:support|work with|allow)|(?:is|are) (?:not|un)(?: currently| yet)? ?supported|(?:in|not )compatible with|(?:greater|larger|smaller|less|higher|lower|more|longer) than (?:the )?(?:\w+ ){0,2}(?:derived|maximum|max|minimum|allowed|available|supported|number|limit|model)|exceeds? (?:the |its )?(?:total|maximum|max|allowed|available|limit|number|model)|is not equal to [\w ]{1,80}\*|[Cc]heck [\w ]{1,40} parameters|[Pp]lease (?:set|specify|provide|choose|use|select|pass|enable|disable|check) \S/

/** What a library says of GPUs up to there is another matter; what comes after is only advice. */
const refuses = (full: string): boolean => {
  const match = REFUSES.exec(full)
  return match !== null && !/\bCUDA\b|cuDNN|NCCL|\bsm_\d|capability/.test(full.slice(0, match.index + match[0].length))
}
/** The option or setting that the message is about. */
const OPTION =
  /(?<![\w-])(--[a-z][\w-]{1,60}(?:\.[a-z][\w-]{0,60}){0,6})|[`'"]([a-z]\w{2,40}(?:_\w{1,30})+)(?:=[^`'"\n]{0,40})?[`'"]|(?<!: )\b([a-z]{2,20}(?:_[a-z]{1,20}){1,6})\b(?= ?[(=]| is | \(| must| should)/
const FIELD =
  /[Ff]ields? [`']([\w.]{1,80})[`'] (?:is|are) not valid for \w|\b(?:[Ii]nvalid|[Uu]nsupported) (?:value for )?[`'"]?([a-z]{2,20}(?:_[a-z]{1,20}){1,5})\b/
const option = ({ error }: EndContext): string | undefined =>
  (FIELD.exec(`${error?.message}\n${error?.tail}`) ?? OPTION.exec(error?.message ?? ''))?.slice(1).find((one) => one !== undefined)

/** A message that is short enough for a title. */
const inShort = ({ error }: EndContext): string | undefined =>
  error !== undefined && /(?:Error|Exception)$/.test(error.name ?? '') && /^[^\n]{8,80}$/.test(error.message) && error.tail.trim() === ''
    ? error.message.replace(/^Unsloth: |[.:!]+$/g, '')
    : undefined

/** In a shell that was never set up for it. */
const CONDA = /^Your shell has not been properly configured to use|^Run 'conda init' before/

/** click's and argparse's words for files. */
function pathOf(message: string): Facts {
  const path = /does not exist|No such file|is a directory|not (?:readable|writable)/.test(message) ? pathIn(message) : undefined
  return path === undefined ? {} : { path }
}

export const configError: EndKind = {
  kind: 'config_error',
  stage: 'cause',
  severity: 'critical',
  claims: anyOf(
    ({ name, message }) => {
      if (name !== 'usage') return undefined
      return { weight: WEIGHT.message, facts: pathOf(message) }
    },
    // The exception that caused it says more, where the text has it.
    says(/^(?:Error in call to target '[^'\n]{1,200}':\s{0,4}\w{3,60}\(["'])?Error locating target '/, WEIGHT.exception + 0.5),
    // Of Julia and Ruby any wrong argument of a call.
    ({ name, module }) => (name === 'ArgumentError' && module === 'argparse' ? { weight: WEIGHT.exception } : undefined),
    raises(
      /^(?:\w{0,40}[Cc]onfig\w{0,40}(?:Error|Exception)|OmegaConfBaseException|UsageError|BadParameter|NoSuchOption|MissingParameter|BadOptionUsage|ValidationError|MissingMandatoryValue|UnsupportedValueType|InterpolationKeyError|UnsupportedInterpolationType|ParserError|ScannerError|ComposerError|ConstructorError|TOMLDecodeError|ArgumentTypeError|OverrideParseException|JsonnetError|SchemaError|UnrecognizedFlagError|IllegalFlagValueError|DoesNotExist)$/,
    ),
    says(CONDA, WEIGHT.message),
    // GROMACS, of its input
    says(/^Too many warnings \(\d{1,4}\)|^Syntax error - File \S{1,200}, line \d|^reading tpx file \([^\n]{1,300}\) version \d{1,4}\s/, WEIGHT.message),
    // Slurm's commands, on a machine that is not set up for a cluster.
    says(/^Could not establish a configuration source/, WEIGHT.message),
    says(
      /^(?:Invalid value for|Missing (?:option|argument|parameter|command)\b|No such (?:option|command)\b|Got unexpected extra argument)|unrecognized arguments|Some specified arguments are not used by|the following arguments are required|invalid choice: |Could not override|Key '[^'\n]{1,80}' (?:is )?not in struct|[Ff]ields? [`'][\w.]{1,80}[`'] (?:is|are) not valid for \w|Primary config (?:module|directory|file)|validation errors? for \w/,
      WEIGHT.message,
      ({ input }) => pathOf(input),
    ),
    says(
      /api[_ ]?key.{0,40}(?:not (?:configured|set|found|provided)|missing|required|must be set)|(?:no|missing|incorrect|invalid|wrong|set (?:the|your)) .{0,30}api[_ ]?key|environment variable .{0,60}(?:not set|must be set|is required|is missing)|(?:not|isn't) (?:set|defined) in (?:the )?environment/i,
      WEIGHT.message,
    ),
    says(
      /model type `[^`\n]{1,60}`|Unrecognized (?:configuration class|model|feature extractor|processor|option)|[Uu]nknown (?:model|architecture|optimizer|scheduler|backend|loss|option|argument|config\w{0,10}|quantization\w{0,10}|dataset|task|stage|template|strategy)(?: type| name| class)?\b|Model architectures? \[[^\]\n]{1,120}\] (?:are|is) not supported|No (?:registered|such) (?:config|model|dataset|option)|exceeds available Mamba cache blocks|^In Mamba cache align mode|^extra_buffer needs |^Assertion failed: (?:Do not|Must) set \w|only supported on SM\d/,
      WEIGHT.message,
    ),
    // Only where the program looked: not what a library says of GPUs.
    says(
      /[`'"]?--[a-z][\w-]{1,60}[`'"]? (?:(?:arg\w{0,6}|argument|flag|option|parameter) )?(?:is|was|must be|needs to be) (?:not |required|set\b|given|specified|provided|mandatory)/,
      WEIGHT.message,
    ),
    ({ name, full }) =>
      (name === undefined ||
        /^(?:ValueError|NotImplementedError|AssertionError|Exception|error|message|record|InvalidArgument\w{0,10}|InvalidParameterError)$/.test(name)) &&
      refuses(full)
        ? { weight: WEIGHT.exception - 0.5 }
        : undefined,
  ),
  title: (context) => {
    const named = option(context) ?? inShort(context)
    return `The program rejected its ${context.error?.name === 'usage' ? 'arguments' : 'configuration'}${named === undefined ? '' : `: ${named}`}`
  },
  verdict: (context) =>
    CONDA.test(context.error?.message ?? '') ? saying(context, 'could not activate its environment') : saying(context, 'rejected its settings and ended'),
  remedies: (context) => [
    newer(context),
    context.error?.name === 'usage'
      ? { text: 'See which arguments this version takes.', command: `${script(context.situation)} --help` }
      : (asks(context) ?? correct(context)),
    /--local[-_]rank/.test(context.error?.message ?? '') && {
      text: 'The launcher passes --local-rank, which the script does not take: start it with torchrun, and read LOCAL_RANK from the environment.',
      command: 'torchrun --nproc-per-node=<GPUS> <SCRIPT>',
    },
    /api[_ ]?key/i.test(context.error?.message ?? '') && { text: 'Give the job its key through its environment or a secret, not in the command line.' },
    /model type|does not recognize this architecture|not supported/.test(context.error?.message ?? '') &&
      context.situation.programs.has('transformers') && {
        text: 'A newer model needs a newer library.',
        command: 'python -m pip install --upgrade transformers',
      },
    openFrame(context),
    asks(context) === undefined && { text: 'Check the configuration before the job takes GPUs: most programs can print or validate it without starting.' },
  ],
}
const EXCLUDES =
  /(?:cannot|can't|can not) be (?:used|combined|set|specified|enabled) (?:with|together|both|at the same time)|mutually exclusive|(?:in|not )compatible with(?![^.\n]{0,40}\bversion)|(?:does|do) not (?:\w+ )?(?:support|work with)|(?:is|are) (?:not|un)(?: currently| yet)? ?supported (?:with|when|for(?! now)|if)\b/
function correct(context: EndContext): Piece {
  const message = context.error?.message ?? ''
  const { own, call } = failedCall(context)
  const where =
    own !== undefined && call !== undefined
      ? `in ${call.callee}(…) at ${frameName(own)}`
      : 'in the command, the configuration file or the environment of the job'
  const named = option(context) ?? 'the setting that the message names'
  const choices = choicesIn(message)
  if (choices !== undefined) {
    const { list, given } = choices
    const brought = caller(context)
    if (given !== undefined && list.includes(given))
      return {
        text: `Update ${brought ?? 'the program'}: its message rejects ${given} and lists it as allowed, so the check is wrong, not the setting.`,
        ...(brought === undefined ? {} : { command: `python -m pip install --upgrade ${brought}` }),
      }
    return { text: `Set ${named} to one of ${list.join(', ')}${given === undefined ? '' : ` (it is ${given})`}, ${where}.` }
  }
  if (EXCLUDES.test(message)) return { text: `Leave out one of the two that the message names, ${where}: they do not go together in this release.` }
  return {
    text:
      option(context) !== undefined && /\b(?:is|are) not (?:yet |currently )?supported by\b/.test(message)
        ? `Leave ${named} out, or change it, ${where}: this release does not support it there.`
        : `Correct ${named}, ${where}.`,
  }
}
/** A server that does not know a model's architecture is older than the model. */
function newer(context: EndContext): Piece {
  const { situation } = context
  if (!/architectures?\b|model type/i.test(quote(context))) return undefined
  const server = INFERENCE.find((program) => situation.programs.has(program))
  const name = server === undefined ? undefined : PROGRAM_NAMES[server]
  return (
    name !== undefined && {
      text: `Update ${name}: a model that is newer than the release is not known to it. Else use a model of an architecture that it lists.`,
    }
  )
}
/** How servers are started whose command does not stand in the text. */
const STARTS: Readonly<Partial<Record<Program, string>>> = {
  vllm: 'vllm serve',
  sglang: 'python -m sglang.launch_server',
  tgi: 'text-generation-launcher',
  tei: 'text-embeddings-router',
  tensorrt_llm: 'trtllm-serve',
  llamacpp: 'llama-server',
}
function script({ programs, subject: { script: path } }: Situation): string {
  if (path !== undefined && /^[\w./-]+$/.test(path)) return `python ${path}`
  const server = INFERENCE.find((program) => STARTS[program] !== undefined && programs.has(program))
  return (server === undefined ? undefined : STARTS[server]) ?? '<COMMAND>'
}
