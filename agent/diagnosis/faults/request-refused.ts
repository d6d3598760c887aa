// Requests that a server of models refuses for what they ask: another model, pictures, tools, an order of messages, more than it queues.
import { outcome, severityOf } from './parts/refused.ts'
import { ruleFamily } from './parts/rules.ts'

export const requestRefused = ruleFamily({
  id: 'request-refused',
  kind: 'config_error',
  literals: [
    'The model `',
    'curl: (7) ',
    'curl: (52) ',
    'curl: (56) Recv failure',
    'Conversation roles must alternate',
    'tool choice requires --enable-auto-tool-choice',
    'may be provided in one ',
    'is not a multimodal model',
    'maximum pending requests exceeded',
  ],
  rules: [
    {
      // A person asks a server by hand; what a script fetches is another matter.
      pattern:
        /^(?:\s{0,4})curl: \((?:7\) Failed to connect to (localhost|127\.0\.0\.1|0\.0\.0\.0|\[?::1\]?) port (\d{2,5})\b|(52)\) Empty reply from server|(56)\) Recv failure: Connection reset by peer)/,
      kind: 'network_error',
      severity: 'warning',
      title: ({ match }) => (match[2] === undefined ? 'The server ended the connection without an answer' : `Nothing listens on port ${match[2]} here`),
      verdict: ({ match }) =>
        match[2] === undefined
          ? 'Something took the connection and gave no answer: a port of a container whose server does not listen yet, or only on 127.0.0.1 inside it, or a server that ended.'
          : `No program takes connections on port ${match[2]} of this machine: the server is still loading its model, has ended, or runs in a container whose port is not published.`,
      remedies: ({ match, situation }) => [
        {
          text: 'See whether it still loads or has ended: its log says so.',
          command: `docker ps -a; docker logs --tail 50 ${situation().subject.container ?? '<CONTAINER>'}`,
        },
        {
          text: `In a container: publish the port (-p ${match[2] ?? '<PORT>'}:${match[2] ?? '<PORT>'}), and let the server listen on all addresses (--host 0.0.0.0).`,
        },
        { text: 'See who listens.', command: match[2] === undefined ? 'sudo ss -ltnp' : `sudo ss -ltnp "sport = :${match[2]}"` },
      ],
    },
    {
      pattern: /The model `([^`\n]{1,160})` does not exist(?! or you)/,
      severity: severityOf,
      title: ({ match }) => `The server serves no model named ${match[1]}`,
      verdict: (seen) => `A request named ${seen.match[1]}; the name must be exactly the one by which the server serves its model or adapter. ${outcome(seen)}`,
      remedies: ({ match }) => [
        { text: 'See by which names it serves, and use one of them.', command: 'curl -s http://localhost:8000/v1/models' },
        { text: 'Or let the server answer to this name.', command: `--served-model-name ${/^[\w./:-]+$/.test(match[1] ?? '') ? match[1] : '<NAME>'}` },
      ],
    },
    {
      pattern: /Conversation roles must alternate/,
      severity: 'warning',
      title: "A request's messages are in an order that the model does not take",
      verdict:
        'The chat template of the model takes user and assistant in turns, beginning with the user, and many such models no system message. Such requests are refused (400); others are served.',
      remedies: [
        { text: 'Merge messages of one role that follow each other, and put the system message at the head of the first user message.' },
        { text: 'Or start the server with a template that takes them.', command: '--chat-template <FILE>' },
      ],
    },
    {
      pattern: /tool choice requires --enable-auto-tool-choice and --tool-call-parser/,
      severity: 'warning',
      title: 'The server was started without tool calls',
      verdict: 'A request asked for tools, and vLLM was started without the options for them. Such requests are refused (400); others are served.',
      remedies: [
        {
          text: 'Start it with the parser for this model (the page of the model or of vLLM names it).',
          command: '--enable-auto-tool-choice --tool-call-parser <PARSER>',
        },
      ],
    },
    {
      pattern: /At most (\d{1,4}) (image|video|audio)\(s\) may be provided in one/,
      severity: severityOf,
      title: ({ match }) => `A request holds more than ${match[1]} ${match[2]}${match[1] === '1' || match[2] === 'audio' ? '' : 's'}`,
      verdict: (seen) => `The server takes at most ${seen.match[1]} of kind ${seen.match[2]} in one request. ${outcome(seen)}`,
      remedies: ({ match }) => [
        { text: 'Send fewer in one request.' },
        { text: 'Or let the server take more; each takes tokens of the context.', command: `--limit-mm-per-prompt '{"${match[2]}": ${Number(match[1]) + 3}}'` },
      ],
    },
    {
      pattern: /([\w./-]{2,120}) is not a multimodal model/,
      severity: severityOf,
      title: ({ match }) => `${match[1]} takes no pictures or sound`,
      verdict: (seen) => `A request held a picture, a video or sound, and ${seen.match[1]} is served as a model for text only. ${outcome(seen)}`,
      remedies: [{ text: 'Send text only, or serve a model that sees (VL, Vision, Omni), with a release that supports it as such.' }],
    },
    {
      pattern: /maximum pending requests exceeded/,
      severity: 'warning',
      title: "Ollama's queue is full",
      verdict: 'More requests came than Ollama lets wait (512 by default), so it answered 503 to the newest. Those that wait are served.',
      remedies: [
        {
          text: 'Let it work at more at once (each takes its own part of the KV cache), or let more of them wait.',
          command: 'export OLLAMA_NUM_PARALLEL=4 OLLAMA_MAX_QUEUE=1024',
        },
        { text: 'Send fewer at a time, or share them between several servers.' },
      ],
    },
  ],
})
