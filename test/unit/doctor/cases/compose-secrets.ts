// Cases of the check compose-secrets. That no value is ever told is in compose.test.ts.
import { written } from '../compose-text.ts'
import type { CheckCase } from '../scene.ts'

const env = (text: string) => `services: {a: {image: x, environment: {${text}}}}`

export const cases: readonly CheckCase[] = [
  { about: 'a variable', scene: written(env("HF_TOKEN: '${HF_TOKEN}'")), status: 'pass' },
  { about: 'a variable that must be set', scene: written(env("DB_PASSWORD: '${DB_PASSWORD:?set it}'")), status: 'pass' },
  {
    about: 'a variable whose value .env has',
    scene: written(env("DB_PASSWORD: '${DB_PASSWORD}'"), { files: { '/srv/.env': 'DB_PASSWORD=Zq7pT0kEn\n' } }),
    status: 'pass',
  },
  { about: 'a name alone', scene: written('services: {a: {image: x, environment: [HF_TOKEN]}}'), status: 'pass' },
  { about: 'an env_file', scene: written('services: {a: {image: x, env_file: a.env}}', { files: { '/srv/a.env': 'HF_TOKEN=Zq7pT0kEn\n' } }), status: 'pass' },
  {
    about: 'names that sound like secrets',
    scene: written(
      env(
        'MAX_TOKENS: 4096, TOKENIZERS_PARALLELISM: "false", POSTGRES_PASSWORD_FILE: /run/secrets/pw, PUBLIC_KEY: abcdefgh, PAD_TOKEN: pad, OPENAI_API_KEY: EMPTY, ALLOW_EMPTY_PASSWORD: yes, SSH_KEY: /keys/id',
      ),
    ),
    status: 'pass',
  },
  {
    about: 'a password',
    scene: written('services:\n  db:\n    image: postgres\n    environment:\n      POSTGRES_PASSWORD: Zq7pT0kEn\n'),
    status: 'warn',
    says: /compose\.yml:5 db".*POSTGRES_PASSWORD.*\.env.*"environment:\\n {2}POSTGRES_PASSWORD:"/,
  },
  { about: 'a password of digits', scene: written(env('DB_PASSWORD: 12345')), status: 'warn' },
  {
    about: 'a token in a list',
    scene: written('services: {a: {image: x, environment: [HF_TOKEN=Zq7pT0kEn]}}'),
    status: 'warn',
    says: /"environment:\\n {2}- HF_TOKEN"/,
  },
  { about: 'a default', scene: written(env("API_KEY: '${API_KEY:-Zq7pT0kEn}'")), status: 'warn' },
  { about: 'a token by its form', scene: written(env('SETTING: hf_abcdefghijklmnopqrstuv')), status: 'warn' },
  { about: 'a URL with a password', scene: written(env("DATABASE_URL: 'postgres://app:Zq7pT0kEn@db/app'")), status: 'warn' },
  { about: 'behind a flag', scene: written('services: {a: {image: x, command: --model m --api-key Zq7pT0kEn}}'), status: 'warn', says: /in its command/ },
  { about: 'behind a flag, in a list', scene: written('services: {a: {image: x, command: [--requirepass, x, --token=Zq7pT0kEn]}}'), status: 'warn' },
  { about: 'a variable behind a flag', scene: written("services: {a: {image: x, command: '--api-key ${KEY} --token $$TOKEN'}}"), status: 'pass' },
  {
    about: 'an argument of the build',
    scene: written('services: {a: {build: {context: ., args: [PIP_TOKEN=Zq7pT0kEn]}}}'),
    status: 'warn',
    says: /build argument PIP_TOKEN/,
  },
  { about: 'no settings', scene: written('services: {a: {image: x}}'), status: 'skipped' },
  { about: 'no file was named', scene: {}, status: 'skipped' },
]
