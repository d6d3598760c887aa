// The port on which the program wants to listen is taken.
import { WEIGHT, anyOf, saying, says, type EndKind } from '../end-kind.ts'

const port = (match: RegExpExecArray): { port?: number } => {
  const found =
    /\bport(?: in range)?:? ?(\d{2,5})\b|\]:(\d{2,5})\b|(?:\d{1,3}\.){3}\d{1,3}:(\d{2,5})\b|\('[\w.:]{0,60}', (\d{2,5})|:::?(\d{2,5})\b|localhost:(\d{2,5})/i
      .exec(match.input)
      ?.slice(1)
      .find((group) => group !== undefined)
  return found === undefined ? {} : { port: Number(found) }
}
export const portInUse: EndKind = {
  kind: 'port_in_use',
  stage: 'consequence',
  severity: 'critical',
  claims: anyOf(
    says(
      /[Aa]ddress already in use|\bEADDRINUSE\b|WinError 10048|[Pp]ort \d{2,5} (?:is|was) (?:already )?(?:in use|taken|occupied|not available)|Cannot find empty port|another process is (?:already )?(?:utilizing|using|listening)|Connection in use: /,
      WEIGHT.message,
      port,
    ),
  ),
  title: ({ facts }) => (facts.port === undefined ? 'Port already in use' : `Port ${facts.port} already in use`),
  verdict: (told) => saying(told, 'cannot listen on its port', 'Another process holds it.'),
  remedies: ({ facts }) => [
    {
      text: 'See which process listens there: often an older run of the same job. Stop it, if it should not be there.',
      command: `sudo ss -ltnp | grep ':${facts.port ?? '<PORT>'} '`,
    },
    { text: 'Or use another port.', ...(facts.port === undefined ? {} : { command: `export MASTER_PORT=${facts.port + 1}` }) },
  ],
}
