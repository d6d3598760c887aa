// Cases of the check compose-file.
import { written } from '../compose-text.ts'
import type { CheckCase } from '../scene.ts'

export const cases: readonly CheckCase[] = [
  { about: 'one file', scene: written('services: {a: {image: x}}'), status: 'pass', says: /1 service in \/srv\/compose\.yml/ },
  {
    about: 'two files',
    scene: written('services: {a: {image: x}}', { compose: { '/srv/b.yml': 'services: {b: {build: .}}\n' } }),
    status: 'pass',
    says: /2 services.*merged/,
  },
  {
    about: 'an override that was not named',
    scene: written('services: {a: {image: x}}', { files: { '/srv/compose.override.yml': 'services: {}\n' } }),
    status: 'pass',
    says: /compose\.override\.yml beside it was not named/,
  },
  { about: "keys of one's own", scene: written('x-a: 1\nservices: {a: {image: x, x-b: 2}}'), status: 'pass' },
  { about: 'no YAML', scene: written('services:\n  a: [1\n  b: 2\n'), status: 'fail', says: /compose\.yml:[23]".*not valid YAML/ },
  { about: 'a key twice', scene: written('services:\n  a: {image: x}\n  a: {image: y}\n'), status: 'fail', says: /compose\.yml:3"/ },
  { about: 'no map', scene: written('- a\n- b\n'), status: 'fail', says: /must be a map with services, not a list/ },
  { about: 'empty', scene: written('# nothing\n'), status: 'fail', says: /an empty file/ },
  { about: 'the format of 2014', scene: written('web:\n  image: nginx\n'), status: 'fail', says: /before 2016.*services:/ },
  {
    about: 'a mistyped key',
    scene: written('services:\n  a:\n    image: x\n    shm-size: 8g\n'),
    status: 'fail',
    says: /compose\.yml:4".*shm-size.*Write shm_size/,
  },
  { about: 'a key one level too high', scene: written('services:\n  a:\n    image: x\n    resources: {}\n'), status: 'fail', says: /Write deploy\.resources/ },
  { about: 'a mistyped key at the top', scene: written('service: {}\n'), status: 'fail', says: /Write services/ },
  { about: 'a service without settings', scene: written('services:\n  a:\n  b: {image: x}\n'), status: 'fail', says: /compose\.yml:2".*service a as a map/ },
  { about: 'neither image nor build', scene: written('services: {a: {restart: always}}'), status: 'fail', says: /neither an image nor a build/ },
  {
    about: 'a variable that must be set',
    scene: written("services: {a: {image: 'x:${TAG:?expected a tag}'}}"),
    status: 'warn',
    says: /TAG is set neither.*expected a tag/,
  },
  {
    about: 'the same, set in .env',
    scene: written("services: {a: {image: 'x:${TAG:?expected a tag}'}}", { files: { '/srv/.env': 'TAG=1\n' } }),
    status: 'pass',
  },
  { about: 'the same, set in the shell', scene: written("services: {a: {image: 'x:${TAG:?expected a tag}'}}", { env: { TAG: '1' } }), status: 'pass' },
  {
    about: 'a dollar alone',
    scene: written("services: {a: {image: x, command: 'price $ 3'}}"),
    status: 'fail',
    says: /a dollar must be followed by a variable.*\$\$/,
  },
  {
    about: 'no env_file',
    scene: written('services: {a: {image: x, env_file: gpu.env}}'),
    status: 'fail',
    says: /expected the file \/srv\/gpu\.env, found none/,
  },
  { about: 'an env_file that may be missing', scene: written('services: {a: {image: x, env_file: [{path: gpu.env, required: false}]}}'), status: 'pass' },
  { about: 'an env_file', scene: written('services: {a: {image: x, env_file: gpu.env}}', { files: { '/srv/gpu.env': 'A=1\n' } }), status: 'pass' },
  { about: 'extends what is not there', scene: written('services: {a: {extends: b}}'), status: 'fail', says: /extends: expected a service b/ },
  {
    about: 'extends in a circle',
    scene: written('services: {a: {image: x, extends: b}, b: {image: x, extends: {service: a}}}'),
    status: 'fail',
    says: /extends this one in turn/,
  },
  {
    about: 'extends a file that is not there',
    scene: written('services: {a: {extends: {file: base.yml, service: b}}}'),
    status: 'fail',
    says: /base\.yml.*expected a file, found none/,
  },
  {
    about: 'extends a service of another file',
    scene: written('services: {a: {extends: {file: base.yml, service: b}}}', { files: { '/srv/base.yml': 'services: {b: {image: x}}\n' } }),
    status: 'pass',
  },
  {
    about: 'includes a file with a service of the same name',
    scene: written('include: [more.yml]\nservices: {a: {image: x}}', { files: { '/srv/more.yml': 'services: {a: {image: y}}\n' } }),
    status: 'fail',
    says: /of the included file \/srv\/more\.yml too/,
  },
  {
    about: 'includes itself',
    scene: written('include: [compose.yml]\nservices: {a: {image: x}}', { files: { '/srv/compose.yml': 'services: {a: {image: x}}\n' } }),
    status: 'fail',
    says: /include: more than/,
  },
  { about: 'includes what is elsewhere', scene: written('include: [oci://registry.example/app]\nservices: {a: {image: x}}'), status: 'pass', says: /left out/ },
  { about: 'no file was named', scene: {}, status: 'skipped', says: /--compose FILE/ },
]
