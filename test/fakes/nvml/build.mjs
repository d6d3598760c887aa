// Prints the path of the fake library, built when needed: node test/fakes/nvml/build.mjs [PROFILE]
import { PROFILES, fakeLibrary } from './build.ts'

const profile = process.argv[2] ?? 'full'
if (!(profile in PROFILES)) {
  console.error(`expected one of ${Object.keys(PROFILES).join(', ')}, got ${profile}`)
  process.exit(2)
}
const path = fakeLibrary(profile)
if (path === undefined) {
  console.error('no C compiler (cc, gcc or clang) on this host')
  process.exit(1)
}
console.log(path)
