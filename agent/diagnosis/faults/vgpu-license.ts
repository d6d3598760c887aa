// An NVIDIA vGPU guest got no licence: its speed is limited, and CUDA may refuse work.
import { ruleFamily, type Matched } from './parts/rules.ts'
import type { Piece } from './remedies/plan.ts'

const SERVER = /(?:from|server:?|at) (?:https?:\/\/)?((?:\d{1,3}\.){3}\d{1,3}|[\w-]{1,60}(?:\.[\w-]{1,60}){1,6})\b/
const serverIn = ({ message, match }: Pick<Matched, 'message' | 'match'>): string | undefined => SERVER.exec(message.slice(match.index))?.[1]

function remedies(matched: Matched): readonly Piece[] {
  const server = serverIn(matched)
  return [
    {
      text: 'See the licence state of the vGPU, and what its licence client says.',
      command: 'nvidia-smi -q | grep -iA2 licen; sudo journalctl -u nvidia-gridd -n 50',
    },
    {
      text: 'Check that the client configuration token is in place and not expired, then restart the licence client.',
      command: 'ls -l /etc/nvidia/ClientConfigToken/; sudo systemctl restart nvidia-gridd',
    },
    server === undefined
      ? { text: 'Check the way to the licence server: address, port 443, proxy, and the clock of this guest.' }
      : { text: `Check that ${server} answers from this guest; proxy and clock matter too.`, command: `curl -skI https://${server}` },
  ]
}
const verdict = (matched: Matched): string => {
  const server = serverIn(matched)
  return `The vGPU got no licence${server === undefined ? '' : ` from ${server}`}: the driver limits its speed, and CUDA may refuse new work.`
}
const rule = { severity: 'critical', title: 'vGPU without a licence', verdict, remedies } as const

export const vgpuLicense = ruleFamily({
  id: 'vgpu-license',
  kind: 'vgpu_license',
  literals: ['nvidia-gridd', 'Failed to acquire license', 'Unlicensed ('],
  rules: [
    {
      ...rule,
      pattern:
        /Failed to acquire license|nvidia-gridd\b[^\n]{0,40}\b(?:[Ff]ailed|[Ee]rror|denied|expired)[^\n]{0,80}licen[sc]e|nvidia-gridd\b[^\n]{0,80}licen[sc]e[^\n]{0,60}(?:expired|denied|failed)/,
    },
    {
      severity: 'warning',
      pattern: /Configuration parameter \( ?([\w ]{3,60}?) ?\) not set|Invalid feature type requested|(Licensing not supported for GPUs in the system)/,
      unless: ({ text, at }) => !(text[at] ?? '').includes('nvidia-gridd'),
      title: 'vGPU licence client not configured',
      verdict: ({ match }) =>
        match[2] === undefined
          ? `The licence client has no ${match[1]?.replace(/ {1,3}/g, ' and no ') ?? 'valid FeatureType'}: the vGPU stays unlicensed, and the driver limits its speed.`
          : 'The licence client sees no GPU that takes a licence: this is no vGPU, or its driver is not the one of the vGPU release.',
      remedies: ({ match }) => [
        match[2] === undefined && {
          text: 'Set FeatureType and either a client token or, with an old licence server, ServerAddress.',
          command: 'sudo nano /etc/nvidia/gridd.conf; ls /etc/nvidia/ClientConfigToken; sudo systemctl restart nvidia-gridd',
        },
        {
          text: 'A whole GPU (passed through, or on bare metal) needs no licence: then switch the service off.',
          command: 'nvidia-smi -q | grep -iA2 -E "virtualization mode|licen"',
        },
      ],
    },
    { ...rule, pattern: /License Status\s{0,30}:\s{0,4}Unlicensed \((?:Restricted|Unrestricted)/, severity: 'warning' },
  ],
})
