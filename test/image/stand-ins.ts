// Images in the place of those that a registry would give, under their exact names: Debian from its archive, Node and npm of this machine in it, and the
// engines as Debian packages them. Needs root and the apt packages mmdebstrap, docker.io, busybox-static, prometheus, prometheus-alertmanager, victoria-metrics.
import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { BUSYBOX, programPath } from '../setup/engine-client.ts'
import { root } from '../setup/compose.ts'

export type Docker = (args: readonly string[], input?: Buffer) => string

const NPM = programPath('npm')
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'

/** The default of an ARG of the Dockerfile. */
export function argument(name: string): string {
  const found = new RegExp(`^ARG ${name}=(.+)$`, 'm').exec(readFileSync(join(root, 'Dockerfile'), 'utf8'))?.[1]
  if (found === undefined) throw new Error(`expected ARG ${name}= in the Dockerfile, found none`)
  return found
}

/** A minute and a half from Debian's archive, so it is kept. */
function debianArchive(): Buffer {
  const cached = join(root, 'node_modules/.cache/image/debian.tar')
  if (!existsSync(cached)) {
    mkdirSync(dirname(cached), { recursive: true })
    const suite = /:(\w+)-slim/.exec(argument('DEBIAN'))?.[1] ?? 'trixie'
    const slim = ['man', 'doc', 'locale'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`)
    execFileSync('mmdebstrap', ['--quiet', '--variant=minbase', ...slim, suite, `${cached}.tar`, 'http://deb.debian.org/debian'], { stdio: 'inherit' })
    renameSync(`${cached}.tar`, cached)
  }
  return readFileSync(cached)
}

type Image = { readonly name: string; readonly lines: readonly string[]; readonly fill: (folder: string) => void }

function build(docker: Docker, { name, lines, fill }: Image): void {
  const folder = mkdtempSync(join(tmpdir(), 'warpwatch-stand-in-'))
  try {
    mkdirSync(join(folder, 'root/bin'), { recursive: true })
    fill(join(folder, 'root'))
    // /bin is a link in Debian, which a copied folder of that name would replace.
    renameSync(join(folder, 'root/bin'), join(folder, 'bin'))
    writeFileSync(join(folder, 'Dockerfile'), [`FROM ${argument('DEBIAN')}`, 'COPY bin/ /usr/bin/', 'COPY root/ /', ...lines, ''].join('\n'))
    docker(['build', '--quiet', '--network', 'none', '--tag', name, folder])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What the Dockerfile starts from. */
export function baseImages(docker: Docker): void {
  docker(['import', '-', argument('DEBIAN')], debianArchive())
  build(docker, {
    name: argument('NODE'),
    // Where a proxy is between the machine and the registry, its certificate is believed.
    lines: existsSync(CERTIFICATES) ? [`ENV NODE_EXTRA_CA_CERTS=${CERTIFICATES}`] : [],
    fill(folder) {
      if (NPM === undefined) throw new Error('expected npm in PATH, found none')
      copyFileSync(process.execPath, join(folder, 'bin/node'))
      cpSync(join(dirname(realpathSync(NPM)), '..'), join(folder, 'usr/lib/node_modules/npm'), { recursive: true })
      symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(folder, 'bin/npm'))
      mkdirSync(join(folder, dirname(CERTIFICATES)), { recursive: true })
      if (existsSync(CERTIFICATES)) copyFileSync(CERTIFICATES, join(folder, CERTIFICATES))
    },
  })
}

type Engine = { readonly image: RegExp; readonly programs: readonly string[]; readonly user: string; readonly data: string; readonly files?: readonly string[] }
/** Their images' users and folders, as far as the compose file counts on them. The first program is what runs. */
const ENGINES: readonly Engine[] = [
  { image: /^prom\/prometheus:/, programs: ['prometheus', 'promtool'], user: '65534:65534', data: '/prometheus' },
  {
    image: /^prom\/alertmanager:/,
    programs: ['prometheus-alertmanager', 'amtool'],
    user: '65534:65534',
    data: '/alertmanager',
    files: ['/usr/share/prometheus/alertmanager'],
  },
  { image: /^victoriametrics\/victoria-metrics:/, programs: ['victoria-metrics'], user: '0:0', data: '/storage' },
  { image: /^victoriametrics\/vmalert:/, programs: ['vmalert'], user: '0:0', data: '/tmp' },
]

/** Makes those of the images that Debian has a program for; gives the names of all others. */
export function engineImages(docker: Docker, images: readonly string[]): readonly string[] {
  const none: string[] = []
  for (const name of images) {
    const engine = ENGINES.find(({ image }) => image.test(name))
    if (engine === undefined) {
      none.push(name)
      continue
    }
    const { programs, user, data, files = [] } = engine
    build(docker, {
      name,
      lines: [`RUN mkdir -p ${data} && chown ${user} ${data}`, `USER ${user}`, `ENTRYPOINT ["/usr/bin/${programs[0] ?? ''}"]`],
      fill(folder) {
        for (const program of programs) copyFileSync(`/usr/bin/${program}`, join(folder, 'bin', program))
        if (BUSYBOX !== undefined) copyFileSync(BUSYBOX, join(folder, 'bin/wget'))
        for (const path of files) cpSync(path, join(folder, path), { recursive: true })
      },
    })
  }
  return none
}
