// The port on which the program wants to listen is taken.
import { known } from '../../faults/parts/window.ts'
import { portIn, whoListens } from '../../faults/port-in-use.ts'
import { WEIGHT, anyOf, saying, says, type EndKind } from '../end-kind.ts'

export const portInUse: EndKind = {
  kind: 'port_in_use',
  stage: 'consequence',
  severity: 'critical',
  claims: anyOf(
    says(
      /[Aa]ddress already in use|\bEADDRINUSE\b|WinError 10048|[Pp]ort \d{2,5} (?:is|was) (?:already )?(?:in use|taken|occupied|not available)|Cannot find empty port|another process is (?:already )?(?:utilizing|using|listening)|Connection in use: /,
      WEIGHT.message,
      ({ input }) => known({ port: portIn({ message: input }) }),
    ),
  ),
  title: ({ facts }) => (facts.port === undefined ? 'Port already in use' : `Port ${facts.port} already in use`),
  verdict: (context) => saying(context, 'cannot listen on its port', 'Another process holds it.'),
  remedies: ({ facts, situation }) => [
    whoListens(facts.port, situation.system),
    {
      text: 'Or use another port.',
      ...(facts.port === undefined && !/torch[\\/](?:distributed|multiprocessing)/.test(situation.text)
        ? {}
        : { command: `export MASTER_PORT=${facts.port === undefined ? '<PORT>' : facts.port + 1}` }),
    },
  ],
}
