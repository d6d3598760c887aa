// Cases of the check compose-ports.
import { written } from '../compose-text.ts'
import type { CheckCase } from '../scene.ts'

const ports = (text: string, image = 'x', more = '') => `services: {a: {image: '${image}', ports: [${text}]${more === '' ? '' : `, ${more}`}}}`

export const cases: readonly CheckCase[] = [
  {
    about: 'on this machine',
    scene: written(ports('"127.0.0.1:11434:11434", "[::1]:8888:8888", "10.0.0.1:6379:6379"')),
    status: 'pass',
    says: /addresses of its own/,
  },
  { about: 'a page for all', scene: written(ports('"443:443", "80"', 'nginx')), status: 'pass', says: /published to all/ },
  { about: "the host's network", scene: written('services: {a: {image: x, network_mode: host}}'), status: 'pass', says: /network_mode: host/ },
  { about: 'a range', scene: written(ports('"8000-8010:8000-8010/udp"')), status: 'pass' },
  { about: 'vLLM with a key', scene: written(ports('"8000:8000"', 'vllm/vllm-openai', "command: '--api-key ${KEY}'")), status: 'pass' },
  { about: 'a variable with a default', scene: written(ports("'127.0.0.1:${PORT:-6006}:6006'")), status: 'pass' },
  {
    about: 'vLLM for all',
    scene: written(ports('"8000:8000"', 'vllm/vllm-openai')),
    status: 'warn',
    says: /vLLM asks for no password.*127\.0\.0\.1:8000:8000/,
  },
  {
    about: 'Jupyter by its port',
    scene: written(ports('"0.0.0.0:80:8888"', 'my/notebook')),
    status: 'warn',
    says: /port 80 is open.*Jupyter.*127\.0\.0\.1:80:8888/,
  },
  { about: 'Redis in the long form', scene: written(ports('{target: 6379, published: "6379"}', 'redis')), status: 'warn', says: /Redis/ },
  { about: 'a Docker engine in a range', scene: written(ports('"2370-2379:2370-2379"')), status: 'warn', says: /a Docker engine/ },
  {
    about: 'the same port twice',
    scene: written('services:\n  a: {image: x, ports: ["8000:80"]}\n  b: {image: x, ports: ["127.0.0.1:8000:81"]}\n'),
    status: 'fail',
    says: /compose\.yml:3 b".*taken by a .*already allocated.*127\.0\.0\.1:8001:81/,
  },
  {
    about: 'the same port on two addresses',
    scene: written('services:\n  a: {image: x, ports: ["127.0.0.1:8000:80"]}\n  b: {image: x, ports: ["127.0.0.2:8000:80"]}\n'),
    status: 'pass',
  },
  { about: 'tcp and udp', scene: written(ports('"53:53", "53:53/udp"')), status: 'pass' },
  { about: 'no port', scene: written(ports('"99999:80"')), status: 'fail', says: /ports of 1 to 65535/ },
  { about: 'a word', scene: written(ports('http')), status: 'fail', says: /not \\"http\\"/ },
  { about: 'a map without a target', scene: written(ports('{published: 80}')), status: 'fail', says: /without a valid target/ },
  { about: 'a variable that is not set here', scene: written(ports("'${PORT}:11434'")), status: 'skipped' },
  { about: 'none', scene: written('services: {a: {image: x}}'), status: 'skipped' },
  { about: 'no file was named', scene: {}, status: 'skipped' },
]
