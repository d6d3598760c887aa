// Tests: `unit` needs nothing but Node and a C compiler; `integration` uses real engines, Prometheus and Chromium, and skips by name what is missing.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/{unit,suites,repo,golden,property}/**/*.test.ts'],
          globalSetup: ['test/setup/fake-nvml.ts'],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/setup/fake-nvml.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      { test: { name: 'gpu', include: ['test/gpu/**/*.test.ts'], testTimeout: 120_000 } },
    ],
  },
})
