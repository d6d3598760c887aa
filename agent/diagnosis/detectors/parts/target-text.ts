// The text for a failed check: why it failed, and what to do.
import type { Remedy } from '../../../model/fault.ts'
import { quoted } from './server-remedies.ts'
import type { TargetChecks } from './target-checks.ts'

const TEXTS: Readonly<Record<string, readonly [title: string, meaning: string]>> = {
  refused: ['connection refused', 'nothing listens there'],
  timeout: ['no answer in time', 'it does not answer, or not to the end, within its time'],
  status: ['unexpected status', 'it answers with another status than expected'],
  tls: ['TLS failed', 'its certificate or its TLS handshake is not accepted'],
  dns: ['name not found', 'its name cannot be resolved'],
  reset: ['connection broke off', 'it closes the connection before it has answered'],
  unreachable: ['not reachable', 'there is no way to its host'],
  redirect: ['redirected elsewhere', 'it leads to another host, and such a redirect is not followed'],
  protocol: ['no HTTP', 'what it answers is no HTTP'],
}
const OTHER = ['check failed', 'the check failed'] as const

export const checkReasonText = (reason: string | undefined): readonly [title: string, meaning: string] => TEXTS[reason ?? ''] ?? OTHER

/** `service ui (http://127.0.0.1:7860/health) of container trainer`. */
export function targetText({ target, url, container }: Pick<TargetChecks, 'target' | 'url' | 'container'>): string {
  return `service ${target}${url === undefined ? '' : ` (${url})`}${container === undefined ? '' : ` of container ${container}`}`
}

export function targetRemedies({ url, container, reason }: TargetChecks): readonly Remedy[] {
  const at = url !== undefined && URL.canParse(url) ? new URL(url) : undefined
  const port = at === undefined || at.port !== '' ? at?.port : at.protocol === 'https:' ? '443' : '80'
  const remedies: Remedy[] = []
  if (url !== undefined) remedies.push({ text: 'Ask as the agent does.', command: `curl -sv --max-time 10 -o /dev/null ${quoted(url)}` })
  if (container !== undefined)
    remedies.push({
      text: 'See whether the container runs, since when, and what it said last.',
      command: `docker ps -a --filter name=${quoted(container)}; docker logs --tail 100 ${quoted(container)}`,
    })
  if (reason === 'tls' && at !== undefined)
    remedies.push({
      text: 'See until when the certificate is valid, and for which names. One of your own authority: start the agent with NODE_EXTRA_CA_CERTS=FILE.',
      command: `openssl s_client -connect ${quoted(`${at.hostname}:${port}`)} -servername ${quoted(at.hostname)} </dev/null | openssl x509 -noout -subject -dates -ext subjectAltName`,
    })
  else if (reason === 'dns' && at !== undefined) remedies.push({ text: 'See what its name resolves to.', command: `getent hosts ${quoted(at.hostname)}` })
  else if ((reason === 'refused' || reason === 'reset') && port !== undefined)
    remedies.push({ text: 'See who listens on its port.', command: `ss -ltnp 'sport = :${port}'` })
  else if (reason === 'redirect')
    remedies.push({ text: 'Put the place that it leads to into the configuration: targets, url.', command: 'warpwatch config --check' })
  if (container !== undefined && reason !== 'tls' && reason !== 'dns')
    remedies.push({ text: 'If no other incident gives the cause: restart it.', command: `docker restart ${quoted(container)}` })
  return remedies
}
