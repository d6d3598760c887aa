// Tests: `unit` needs nothing but Node and a C compiler; `integration` uses real engines, Prometheus and Chromium, and skips by name what is missing.
import { defineConfig } from 'vitest/config'
import { sequencerOf } from './test/setup/sequencer.ts'

/**
 * Integration tests that mostly wait, on engines and ports of their own, and measure no time: three of them at once, in this order. What takes
 * minutes comes first, lest it be the last that all wait for.
 */
const SIDE_BY_SIDE = [
  'bare-debian',
  'healthy-host',
  'otlp',
  'driver-faults',
  'memory-use',
  'grafana',
  'container-lost-gpu',
  'install',
  'replay-determinism',
  'dashboard-incidents',
  'hardware-faults',
  'dashboard',
  'probe-pythons',
  'deb',
  'dashboard-axe',
  'docker',
  'systemd',
  'service-dead-gpu',
  'maintenance',
  'targets',
  'agent-without-driver',
  'alertmanager-config',
  'alerts-crash',
  'alerts-end-to-end',
  'alerts-end-to-end-crash',
  'alerts-end-to-end-secrets',
  'alerts-outage',
  'compose',
  'compose-configs',
  'dashboard-allocator',
  'dashboard-doctor-fit',
  'dashboard-explain-agent',
  'dashboard-jobs',
  'dashboard-memory',
  'dashboard-overview',
  'dashboard-budget',
  'dashboard-views',
  'dcgm-move',
  'doctor',
  'doctor-containers',
  'driver-rules',
  'fleet',
  'fleet-configs',
  'incidents',
  'kubernetes-cluster',
  'kubernetes-node',
  'probe',
  'rule-files',
  'rules',
  'target-rules',
].map((name) => `test/integration/${name}.test.ts`)
const integration = {
  globalSetup: ['test/setup/fake-nvml.ts'],
  testTimeout: 60_000,
  hookTimeout: 120_000,
}

export default defineConfig({
  test: {
    sequence: { sequencer: sequencerOf(SIDE_BY_SIDE) },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/{unit,suites,repo,golden,property}/**/*.test.ts'],
          globalSetup: ['test/setup/fake-nvml.ts'],
          testTimeout: 20_000,
          // Vitest takes one core fewer than there are; on two that leaves one idle, and many of these tests wait.
          maxWorkers: 3,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...integration,
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          exclude: SIDE_BY_SIDE,
          fileParallelism: false,
        },
      },
      {
        test: {
          ...integration,
          name: 'integration-side-by-side',
          // Three of them share the cores; what is too slow is measured in bench/.
          testTimeout: 180_000,
          hookTimeout: 240_000,
          include: SIDE_BY_SIDE,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      { test: { name: 'image', include: ['test/image/**/*.test.ts'], testTimeout: 120_000 } },
      { test: { name: 'gpu', include: ['test/gpu/**/*.test.ts'], testTimeout: 120_000 } },
    ],
  },
})
