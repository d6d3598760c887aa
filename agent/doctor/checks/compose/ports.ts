// Are ports published to all addresses by services without a password, and is each port valid and used once?
import { defineCheck, type Finding } from '../../definition.ts'
import { complainOf, eachProject, passOf, write } from '../../compose/look.ts'
import { at, placeText, textOf } from '../../compose/part.ts'
import { isOpen, onLoopback, portsOf, rangeText, type PublishedPort } from '../../compose/ports.ts'
import type { ComposeService } from '../../compose/service.ts'

/** By the port of the container, where nothing is known of the image: what listens there asks for no password by itself. */
const KNOWN: Readonly<Record<number, string>> = {
  2375: 'a Docker engine',
  6006: 'TensorBoard',
  6379: 'Redis',
  7860: 'Gradio',
  8188: 'ComfyUI',
  8265: 'Ray, which runs any code that it is sent',
  8888: 'Jupyter',
  9400: 'dcgm-exporter',
  9839: 'Warpwatch',
  11434: 'Ollama',
  27017: 'MongoDB',
}
/** It asks for a password or a key all the same, by its settings. */
const LOCKED =
  /--api-key|--requirepass|--auth\b|--web\.config\.file|--gradio-auth|\b(?:(?:VLLM|LLAMA|LOCALAI|CHROMA|QDRANT__SERVICE_)_API_KEY|JUPYTER_(?:TOKEN|PASSWORD)|REDIS_(?:PASSWORD|ARGS)|MONGO_INITDB_ROOT_PASSWORD|ELASTIC_PASSWORD|CHROMA_SERVER_AUTHN_CREDENTIALS)\b/
const within = ([from, to]: readonly [number, number], port: number): boolean => from <= port && port <= to

/** Who listens behind it and lets everybody in; undefined: nothing of the kind is known. */
function openly({ family, command, env }: ComposeService, { target }: PublishedPort): string | undefined {
  if (LOCKED.test([command, ...env.keys()].join(' '))) return undefined
  if (family?.open?.some((port) => within(target, port)) === true) return family.name
  const found = Object.entries(KNOWN).find(([port]) => within(target, Number(port)))
  return family?.open === undefined ? found?.[1] : undefined
}
const meets = (a: PublishedPort, b: PublishedPort): boolean => {
  if (a.published === undefined || b.published === undefined || a.protocol !== b.protocol) return false
  const [any, same] = [a.ip === undefined || a.ip === '0.0.0.0' || b.ip === undefined || b.ip === '0.0.0.0', a.ip === b.ip]
  // Of two ranges Docker takes what is free.
  return (any || same) && a.published[0] === a.published[1] && b.published[0] === b.published[1] && a.published[0] === b.published[0]
}

export const composePorts = defineCheck({
  id: 'compose-ports',
  group: 'compose',
  title: 'no port that asks for no password is open to the world, and each is valid and taken once',
  covers: [],
  run: async (around) =>
    await eachProject(around, 'no service publishes a port that is known here', (project): readonly Finding[] => {
      const taken: { readonly service: ComposeService; readonly port: PublishedPort }[] = []
      return project.services.flatMap((service): readonly Finding[] => {
        if (textOf(at(service.part, 'network_mode')) === 'host') {
          return [
            passOf(
              service,
              'network_mode: host: it publishes nothing, and whatever it listens on is open as far as it binds',
              at(service.part, 'network_mode'),
            ),
          ]
        }
        const found: Finding[] = []
        const ports = portsOf(service.part)
        for (const port of ports) {
          if ('wrong' in port) {
            found.push(
              complainOf('fail', service, port, `ports must be [ADDRESS:]HOST:CONTAINER with ports of 1 to 65535, not ${port.wrong}`, [
                write(service, project, 'Write address, port of the host, port of the container.', 'ports:\n  - "127.0.0.1:8000:8000"', port),
              ]),
            )
            continue
          }
          const other = taken.find((one) => meets(one.port, port))
          taken.push({ service, port })
          if (other !== undefined && port.published !== undefined) {
            const free = port.published[0] + 1
            found.push(
              complainOf(
                'fail',
                service,
                port,
                `port ${rangeText(port.published)} of the host is taken by ${other.service.name} (${placeText(other.port)}) already: "port is already allocated"`,
                [write(service, project, 'Take another one.', `ports:\n  - "${onLoopback({ ...port, published: [free, free] })}"`, port)],
              ),
            )
          }
          const who = isOpen(port) ? openly(service, port) : undefined
          if (who === undefined) continue
          found.push(
            complainOf(
              'warn',
              service,
              port,
              `port ${rangeText(port.published ?? port.target)} is open to everybody who reaches this host, past its firewall too (Docker goes before ufw and firewalld), and ${who} asks for no password by itself`,
              [
                write(
                  service,
                  project,
                  'Publish it on this machine only; from elsewhere go through ssh -L or a proxy with a password.',
                  `ports:\n  - "${onLoopback(port)}"`,
                  port,
                ),
                {
                  text: 'Other services of the same project reach it by its name without any published port. If a firewall before this host, or a token, protects it, leave it.',
                },
              ],
            ),
          )
        }
        if (found.length > 0) return found
        const outside = ports.filter((port) => !('wrong' in port) && isOpen(port)).length
        return ports.length === 0
          ? []
          : [
              passOf(
                service,
                outside === 0 ? 'published on addresses of its own only' : 'published to all; nothing behind it is known to be open to all',
                at(service.part, 'ports'),
              ),
            ]
      })
    }),
})
