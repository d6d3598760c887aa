// Tests: `unit` and `slow` need nothing but Node and a C compiler; `integration` uses real engines, Prometheus and Chromium, and skips by name what is missing.
import { defineConfig } from 'vitest/config'
import { Mixed } from './test/setup/sequencer.ts'

/**
 * More than there are cores: most of the time tests wait. Units and the integration tests that share a machine (`NAME.parallel.test.ts`) run at the same time; the other integration
 * tests then run file by file, three at a time where the file says that they may.
 */
const TOGETHER = { maxWorkers: 6, sequence: { groupOrder: 1 } }
/** Left to `npm run test:all`, unless a file is named on the command line (test/setup/rounds.ts). */
const WITH_VALUE = /^(?:-t|--(?:project|reporter|testNamePattern|shard|outputFile|maxWorkers|bail|retry))$/
const namesFiles = process.argv.slice(3).some((arg, at, args) => !arg.startsWith('-') && !WITH_VALUE.test(args[at - 1] ?? ''))
const LEFT = namesFiles || process.env['TEST_ALL'] === '1' || process.env['TEST_LONG'] === '1' ? [] : ['test/**/*.all.{test,*.test}.ts']
const SLOW = 'test/unit/**/*.slow.test.ts'
const PARALLEL = 'test/integration/**/*.parallel.test.ts'
// As many tests share the cores, and others may use the machine; what is too slow is measured in bench/.
const PATIENCE = { testTimeout: 300_000, hookTimeout: 300_000 }
/** See test/setup/memory-folder.ts. */
const IN_MEMORY = { env: { TEST_IN_MEMORY: '1' } }
const setup = { setupFiles: ['test/setup/cpu-log.ts', 'test/setup/file-folder.ts'], expect: { poll: { timeout: 120_000, interval: 20 } } }

export default defineConfig({
  test: {
    globalSetup: ['test/setup/run-folder.ts', 'test/setup/fake-nvml.ts'],
    sequence: { sequencer: Mixed },
    projects: [
      // Files share what they import, which saves a third of their CPU time; what measures itself has a process of its own.
      {
        test: {
          ...setup,
          ...TOGETHER,
          ...PATIENCE,
          ...IN_MEMORY,
          name: 'unit',
          include: ['test/{unit,repo,golden}/**/*.test.ts'],
          exclude: [SLOW, ...LEFT],
          isolate: false,
        },
      },
      { test: { ...setup, ...TOGETHER, ...PATIENCE, ...IN_MEMORY, name: 'slow', include: [SLOW, 'test/{suites,property}/**/*.test.ts'], exclude: LEFT } },
      { test: { ...setup, ...TOGETHER, ...PATIENCE, name: 'integration-parallel', include: [PARALLEL], exclude: LEFT } },
      {
        test: {
          ...setup,
          ...PATIENCE,
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          exclude: [PARALLEL, ...LEFT],
          fileParallelism: false,
          maxConcurrency: 3,
        },
      },
      { test: { ...setup, name: 'image', include: ['test/image/**/*.test.ts'], testTimeout: 120_000 } },
      { test: { ...setup, name: 'gpu', include: ['test/gpu/**/*.test.ts'], testTimeout: 120_000 } },
    ],
  },
})
