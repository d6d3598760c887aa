// A port that another process holds: a server or the rendezvous of a distributed job cannot listen.
import type { Situation } from '../situation/situation.ts'
import { group } from '../situation/versions.ts'
import type { Facts } from '../../model/facts.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import { around, known, whole } from './parts/window.ts'
import type { Piece } from './remedies/plan.ts'

const PORT =
  /\bport(?: in range)?[:=]? {0,2}(\d{2,5})\b|\[(?:::|[\w:.]{1,40})\]:(\d{2,5})\b|(?:\d{1,3}\.){3}\d{1,3}:(\d{2,5})\b|[([]'?[\w.:-]{0,80}'?, (\d{2,5})\b|\blocalhost:(\d{2,5})\b|:::?(\d{2,5})\b|connecting to [\w.-]{1,80}:(\d{2,5})\b|:(\d{4,5}): (?:bind|listen)/i
export const portIn = ({ message }: Pick<Seen, 'message'>): number | undefined => whole(group(PORT.exec(message)))
export const whoListens = (port: number | undefined, system?: Situation['system']): Piece => ({
  text: `See which process listens on ${port === undefined ? 'that port' : `port ${port}`}: often an older run of the same job. Stop it, if it should not be there.`,
  command:
    system === 'mac'
      ? `sudo lsof -nP -iTCP:${port ?? '<PORT>'} -sTCP:LISTEN`
      : system === 'windows'
        ? `netstat -ano | findstr :${port ?? '<PORT>'}`
        : `sudo ss -ltnp | grep ':${port ?? '<PORT>'} '`,
})
const facts = (seen: Seen): Facts => known({ port: portIn(seen), errno: /errno:? ?98|Errno 98|code: -98|EADDRINUSE/.test(seen.message) ? 98 : undefined })

/** By the option that set the port, where the text shows it: it wins over the environment. */
function anotherPort(text: string, next: string): Piece {
  if (/\bMASTER_PORT\b/.test(text) && /tried|same error|already/i.test(text))
    return { text: 'The program does not read MASTER_PORT here: look for the port in its own options or code.' }
  if (/--standalone\b/.test(text))
    return {
      text: '--standalone chose a free port: let the script take its rank from the environment (RANK, LOCAL_RANK), so that only rank 0 listens.',
    }
  const flag = /--(main_process_port|master[-_]port|rdzv[-_]endpoint)\b/.exec(text)?.[1]
  if (flag === undefined || flag.startsWith('rdzv'))
    return {
      text: `Or use another port for the rendezvous (torchrun: --master-port, or --standalone on one host; accelerate: --main_process_port).`,
      command: flag === undefined ? `export MASTER_PORT=${next}` : `--${flag} localhost:${next}`,
    }
  return { text: 'Or use another port for the rendezvous.', command: `--${flag} ${next}` }
}

function remedies({ facts: { port }, situation, message }: Matched): readonly Piece[] {
  const { programs } = situation()
  const rendezvous = /c10d|TCPStore|server socket|rendezvous|MASTER_PORT|torchrun/i.test(`${message} ${situation().text}`)
  const next = port === undefined ? '<PORT>' : String(port + 1)
  const ollama = port === 11_434
  if (rendezvous && port !== undefined && port < 1024)
    return [
      {
        text: `Choose a port above 1024: port ${port} belongs to a service of the system${port === 22 ? ' (SSH, by which people log in)' : ''}, which must keep it.`,
        command: 'export MASTER_PORT=29500',
      },
      { text: 'If a script sets it, change it there: an option such as --master_port or --port, or a variable such as PORT.' },
    ]
  return [
    ollama && { text: 'Ollama most likely runs already, as a service: use that one, or stop it first.', command: 'systemctl status ollama' },
    whoListens(port, situation().system),
    rendezvous && programs.has('vllm') && port === undefined && !/torchrun|--master|MASTER_PORT/.test(situation().text)
      ? {
          text: 'vLLM took a port that was free a moment before: engines that start at the same time may choose the same one. Start them one after the other, or give each a base port of its own for its inner connections.',
          command: 'export VLLM_PORT=<PORT>',
        }
      : rendezvous
        ? anotherPort(situation().text, next)
        : programs.has('vllm') || programs.has('sglang') || programs.has('tgi') || programs.has('llamacpp')
          ? { text: 'Or let the server listen on another port.', command: `--port ${next}` }
          : { text: `Or let the program listen on another port${port === undefined ? '' : ` (such as ${next})`}.` },
  ]
}
const verdict = ({ facts: { port } }: Matched): string =>
  `${port === undefined ? 'A port' : `Port ${port}`} is already in use by another process, so this one cannot listen there.`
/** NCCL's sockets take any free port: its own family tells what failed. */
const ofNccl = ({ message }: Seen): boolean => /NCCL WARN Call to/.test(message)
/** It takes another one, as Spark, Jupyter, Streamlit, Vite and many more do. */
const TAKES_ANOTHER = /\bAttempting port \d|\b(?:trying|using|use) (?:another|the next|a different|a random|(?:the )?port \d{2,5}|\d{2,5} instead)/i
const unless = (seen: Seen): boolean => ofNccl(seen) || TAKES_ANOTHER.test(around(seen.text, seen.at, 0, 160))
const rule = { severity: 'critical', title: 'Port already in use', verdict, remedies, unless } as const

export const portInUse = ruleFamily({
  id: 'port-in-use',
  kind: 'port_in_use',
  literals: ['ddress already in use', 'EADDRINUSE', 'failed to listen on any local network address'],
  facts,
  rules: [
    {
      severity: 'critical',
      pattern: /(?:\[?Errno (?:98|48)\]?|OSError)[^\n]{0,160}[Aa]ddress already in use/,
      // Port 0 asks for any.
      unless: (seen) => unless(seen) || !/\bbind\(\(['"]?[\w.:'"-]{0,60}, 0\)\)/.test(around(seen.text, seen.at, 2, 0)),
      title: 'No free port is left',
      verdict: 'The program asked for any free port, and the system had none: the range of ports that it gives out is used up.',
      remedies: [
        {
          text: 'See how many sockets are open, and in which state; many in TIME-WAIT or held by one program are the cause.',
          command: 'ss -s; sysctl net.ipv4.ip_local_port_range',
        },
        { text: 'See which programs hold them.', command: "sudo ss -tanp | grep -o 'users:.*' | sort | uniq -c | sort -rn | head" },
        { text: 'Widen the range.', command: "sudo sysctl -w net.ipv4.ip_local_port_range='15000 65000'" },
      ],
    },
    { ...rule, pattern: /failed to (?:bind to|listen on)[^\n]{0,120}?\(errno: 98|failed to listen on any local network address/ },
    { ...rule, pattern: /EADDRINUSE|(?:\[?Errno 98\]?|bind|listen|socket|port|OSError|error)[^\n]{0,160}[Aa]ddress already in use/ },
  ],
})
