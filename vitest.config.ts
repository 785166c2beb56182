import { defineConfig } from 'vitest/config'
import { countRuns, ensureSeed } from './test/support/random-cases.ts'

// Control tests share a running stack that has no engine and no trainer. They use only what they make there, so that three
// files run at a time. Tests of faults have such a stack too; they end parts of it, or change what holds for all, so their
// files run one at a time. So do integration and client tests, whose stack has engine and trainer (test/support/global-setup.ts).
// Time limits end a test that hangs. They are long, so that a loaded machine fails none.
// The processes of the tests inherit the seed.
ensureSeed()

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          // No file leaves anything behind in its process that another one would see, so that modules are loaded once.
          isolate: false,
          include: [
            '{console,lib,crds,db,artifacts,apiserver,operator,local,test/support,test/newest-clients}/**/*.test.ts',
          ],
          testTimeout: 120_000 * countRuns(),
        },
      },
      {
        test: {
          name: 'store',
          include: ['test/store/*.test.ts'],
          testTimeout: 300_000,
          // An S3 server may have to be built first.
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          name: 'control',
          isolate: false,
          include: ['test/control/*.test.ts', 'test/clients/tracing/*.test.ts'],
          globalSetup: ['test/support/control-setup.ts'],
          maxWorkers: 3,
          testTimeout: 600_000 * countRuns(),
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          // What the build of the console weighs and contains.
          name: 'console',
          include: ['test/console/*.test.ts'],
          globalSetup: ['test/support/console-setup.ts'],
          testTimeout: 120_000,
        },
      },
      {
        test: {
          // The console in a real browser. Its files share the browser, whose pages compute more than the tests do.
          name: 'browser',
          isolate: false,
          include: ['test/browser/*.test.ts'],
          globalSetup: ['test/support/browser-setup.ts'],
          fileParallelism: false,
          expect: { poll: { timeout: 60_000 } },
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          name: 'faults',
          include: ['test/faults/*.test.ts'],
          globalSetup: ['test/support/control-setup.ts'],
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/*.test.ts', 'test/clients/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          fileParallelism: false,
          expect: { poll: { timeout: 60_000 } },
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          name: 'images',
          include: ['test/images/*.test.ts'],
          fileParallelism: false,
          testTimeout: 600_000,
          hookTimeout: 3_600_000,
        },
      },
      {
        test: {
          name: 'postgres',
          include: ['test/postgres/*.test.ts'],
          globalSetup: ['test/support/control-setup.ts'],
          fileParallelism: false,
          testTimeout: 300_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          name: 'backup',
          include: ['test/backup/*.test.ts'],
          globalSetup: ['test/support/control-setup.ts'],
          fileParallelism: false,
          // Two stacks with an engine and a trainer start, one after the other.
          testTimeout: 1_800_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          name: 'helm',
          include: ['test/helm/*.test.ts'],
          fileParallelism: false,
          testTimeout: 900_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          // Run it by test/kubelet.ts, which builds what it needs.
          name: 'kubelet',
          include: ['test/kubelet/*.test.ts'],
          fileParallelism: false,
          testTimeout: 1_800_000,
          hookTimeout: 1_800_000,
        },
      },
      {
        test: {
          name: 'rollout',
          include: ['test/rollout/*.test.ts'],
          fileParallelism: false,
          testTimeout: 900_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          name: 'kueue',
          include: ['test/kueue/*.test.ts'],
          globalSetup: ['test/support/control-setup.ts'],
          testTimeout: 600_000,
          // Kueue's controller may have to be built first.
          hookTimeout: 3_600_000,
        },
      },
      {
        test: {
          name: 'hostile',
          // The second ones are small enough for each `npm test` too.
          include: [
            'test/hostile/*.test.ts',
            'test/control/{hostile,hostile-answers,connection-shares,slow-data-hosts,slow-webhook-hosts,model-races}.test.ts',
          ],
          globalSetup: ['test/support/global-setup.ts'],
          fileParallelism: false,
          hookTimeout: 600_000,
        },
      },
    ],
  },
})
