// Errors by which SGLang ends, and its checks at the start, with one reason each.
import type { Known } from './message.ts'

export const SGLANG: readonly Known[] = [
  {
    // sglang/srt/entrypoints/engine.py
    pattern: /Rank (\d{1,4}) scheduler died during initialization \(exit code: (-?\d{1,5})\)/,
    title: ([, rank]) => `SGLang's scheduler of rank ${rank} ended while it started`,
    says: ([, , code]) =>
      code === '-9'
        ? 'It was killed (SIGKILL), mostly because host memory was full.'
        : code === '-3'
          ? 'It ended itself (SIGQUIT) after an error of its own, which is further up.'
          : undefined,
    remedies: ([, rank, code]) => [
      code === '-9'
        ? { text: "See whether the kernel's OOM killer did it.", command: "sudo dmesg -T | grep -iE 'killed process|oom-kill' | tail" }
        : { text: `Read the traceback of that rank above ("TP${rank}] Scheduler hit an exception"): its last line is the cause.` },
      code === '-9' && { text: 'Give it more host memory, or load the weights of fewer ranks at once.', command: 'free -g' },
    ],
  },
  {
    // sglang/srt/utils: assert_pkg_version
    pattern: /\b([\w-]{2,40})(?: is installed with version [\w.+]{1,30}, which is less than the| with) minimum required version ([\d.]{1,16}\d)/,
    title: ([, name, least]) => `${name} ${least} or newer is missing`,
    says: ([, name, least]) => `This release asks for ${name} ${least} or newer.`,
    remedies: ([, name = '', least]) => [
      {
        text: 'Install it where the server runs; then start the server again.',
        command: `python -m pip install --upgrade '${name.replaceAll('_', '-')}>=${least}'`,
      },
      { text: 'Or take an image of the server, in which all of them fit together.' },
    ],
  },
  {
    // sglang/srt/managers/scheduler.py; vllm/reasoning: the parser looks up the tokens that enclose the model's reasoning.
    pattern: /(?:think_(?:start|end)_token '([^'\n]{1,40})' must encode to exactly one token|reasoning parser could not locate think start\/end tokens)/i,
    title: "The model does not know the reasoning parser's tokens",
    says: ([, token]) =>
      `The tokenizer of this model has no single token ${token ?? 'for the begin and the end of reasoning'}: it does not mark its reasoning, or in another way.`,
    remedies: (_, { situation }) => {
      const now = /--reasoning-parser[= ]([\w.-]{2,40})/.exec(situation.text)?.[1]
      return [{ text: `Leave --reasoning-parser${now === undefined ? '' : ` ${now}`} out for a model that does not reason, or name the parser of its family.` }]
    },
  },
  {
    // https://github.com/sgl-project/sglang/issues/3108, 7767, 12567
    pattern: /Tokens not accepted: ?(\d{1,8})|is regarded as a special token, and cannot be accepted by the GrammarMatcher/,
    title: 'A token of the model does not fit the grammar of the request',
    says: 'A request with structured output (JSON schema, tool_choice) ended the whole server: the model wrote a token that the grammar does not allow, mostly one of its own for reasoning or tools.',
    remedies: (_, { situation }) => [
      {
        text: 'Update the server with its xgrammar: several causes of this were corrected.',
        command: `python -m pip install --upgrade ${situation.programs.has('vllm') && !situation.programs.has('sglang') ? 'vllm' : 'sglang'}`,
      },
      situation.programs.has('sglang') && { text: 'Or let another library check the grammar.', command: '--grammar-backend llguidance' },
      {
        text: 'For a model that reasons, name its parser (--reasoning-parser), so that the grammar begins after the reasoning; try such requests without speculative decoding.',
      },
    ],
  },
  {
    pattern: /TP rank (\d{1,4}) could finish the model loading, but there are other ranks that didn't/,
    title: ([, rank]) => `SGLang: rank ${rank} waited in vain for the other ranks to load the model`,
    says: 'This rank is well: another one failed or is too slow, on this host or another node.',
    remedies: () => [
      { text: 'Read the log of the other ranks and nodes: the one that does not say "Load weight end" has the cause (memory, disk, a crash).' },
      { text: 'If one only loads slowly (a network disk, a host short of memory), put the model on a local disk.', command: 'free -g; df -h <MODEL_FOLDER>' },
    ],
  },
]
