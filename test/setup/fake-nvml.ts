// Global set-up of the tests: builds the fake NVML library once before any test runs; without a compiler the tests that need it skip by name.
import { PROFILE_NAMES, compiler, fakeLibrary, layoutProgram } from '../fakes/nvml/build.ts'

export default function setup(): void {
  if (compiler === undefined) {
    console.warn('no C compiler (cc, gcc or clang): tests against the fake NVML library are skipped')
    return
  }
  for (const profile of PROFILE_NAMES) fakeLibrary(profile)
  layoutProgram()
}
