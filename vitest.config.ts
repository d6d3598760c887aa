// Tests: `together` runs units and the integration tests that share a machine, `alone` the others; those use real engines, Prometheus and Chromium, and skip by name what is missing.
import { defineConfig } from 'vitest/config'
import { Mixed } from './test/setup/sequencer.ts'

/** Left to `npm run test:all`, unless a file is named on the command line (test/setup/rounds.ts). */
const WITH_VALUE = /^(?:-t|--(?:project|reporter|testNamePattern|shard|outputFile|maxWorkers|bail|retry))$/
const namesFiles = process.argv.slice(3).some((arg, at, args) => !arg.startsWith('-') && !WITH_VALUE.test(args[at - 1] ?? ''))
const LEFT = namesFiles || process.env['TEST_ALL'] === '1' || process.env['TEST_LONG'] === '1' ? [] : ['test/**/*.all.{test,*.test}.ts']
/** Of the inner loop (scripts/quick.mjs): `all` units, those `related` to a change, or those that `read` files, which it runs in any case. */
const QUICK = process.env['TEST_QUICK'] !== undefined
const VITE = QUICK && process.env['TEST_QUICK'] !== 'read'
const SLOW = [
  ...(QUICK ? ['test/{integration,suites,property}/**', 'test/**/*.slow.test.ts'] : []),
  ...(process.env['TEST_QUICK'] === 'related' ? ['test/{repo,golden}/**'] : []),
]
const PARALLEL = 'test/integration/**/*.parallel.test.ts'
/** Tests of components: JSX is left to Vite's runner. */
const JSX = 'test/unit/dashboard/**/*.jsx.test.ts'
// As many tests share the cores, and others may use the machine; what is too slow is measured in bench/.
const PATIENCE = { testTimeout: 300_000, hookTimeout: 300_000 }
const setup = { setupFiles: ['test/setup/cpu-log.ts', 'test/setup/file-folder.ts'], expect: { poll: { timeout: 120_000, interval: 20 } } }

export default defineConfig({
  test: {
    globalSetup: ['test/setup/run-folder.ts', 'test/setup/fake-nvml.ts'],
    sequence: { sequencer: Mixed },
    projects: [
      // Seven processes, more than there are cores: most of the time tests wait. Each runs one file after another and keeps what those import, which saves a third of the CPU time.
      // Node imports the sources itself, as it does for who runs them; through Vite's runner they take an eighth more of the CPU. The inner loop asks Vite which test imports what.
      {
        test: {
          ...setup,
          ...PATIENCE,
          name: 'together',
          include: ['test/{unit,repo,golden,suites,property}/**/*.test.ts', PARALLEL],
          exclude: [...(VITE ? [] : [JSX]), ...LEFT, ...SLOW],
          isolate: false,
          experimental: { viteModuleRunner: VITE, nodeLoader: VITE },
          maxWorkers: 7,
          sequence: { groupOrder: 1 },
        },
      },
      // At the end, two files at a time, three tests where the file says that they may: enough of the machine is left to be in time.
      {
        test: {
          ...setup,
          ...PATIENCE,
          name: 'alone',
          include: ['test/integration/**/*.test.ts', JSX],
          exclude: [PARALLEL, ...LEFT],
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
          maxConcurrency: 3,
        },
      },
      { test: { ...setup, name: 'image', include: ['test/image/**/*.test.ts'], testTimeout: 120_000 } },
      { test: { ...setup, name: 'gpu', include: ['test/gpu/**/*.test.ts'], testTimeout: 120_000 } },
    ],
  },
})
