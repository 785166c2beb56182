import { defaultExclude, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { countRuns, ensureSeed } from './test/support/random-cases.ts'

// The processes of the tests inherit the seed.
ensureSeed()

const minute = 60_000

interface Project {
  include: string[]
  /** A file in test/support that brings up what all files of the project share. */
  setup?: string
  /** No file leaves anything behind in its process that another one would see, so that modules are loaded once. */
  sharesModules?: boolean
  /** Files that run at a time. */
  workers?: number
  minutes?: number
}

/** Time limits end a test that hangs. They are long, so that a loaded machine fails none. */
function project(name: string, options: Project): TestProjectInlineConfiguration {
  const { include, setup, sharesModules = false, workers, minutes = 10 } = options
  return {
    test: {
      name,
      include,
      exclude: defaultExclude,
      isolate: !sharesModules,
      ...(setup !== undefined && { globalSetup: [`test/support/${setup}.ts`] }),
      ...(workers === 1 && { fileParallelism: false }),
      ...(workers !== undefined && { maxWorkers: workers }),
      testTimeout: minutes * minute * countRuns(),
      // What a test needs may have to be built first.
      hookTimeout: 60 * minute,
      expect: { poll: { timeout: minute } },
    },
  }
}

export default defineConfig({
  test: {
    // The transformed modules are kept for the next project and the next run.
    fsModuleCache: true,
    // Imports do not lead from a test to these files.
    forceRerunTriggers: ['**/*.{sql,yaml,yml,tpl,sh}', '**/package-lock.json', '**/vitest.config.ts'],
    projects: [
      project('unit', {
        include: [
          '{console,lib,crds,db,artifacts,apiserver,operator,local,test/support,test/newest-clients}/**/*.test.ts',
        ],
        sharesModules: true,
      }),
      // Postgres alone.
      project('db', { include: ['test/db/*.test.ts'], setup: 'postgres-setup', sharesModules: true }),
      // An API server in the process of the test, and Postgres.
      project('api', { include: ['test/api/*.test.ts'], setup: 'postgres-setup', sharesModules: true }),
      // A kube-apiserver, Postgres, API servers and operators. Nodes, engines and trainers are missing. Files use only what they
      // make there.
      project('cluster', {
        include: ['test/cluster/*.test.ts'],
        setup: 'cluster-setup',
        sharesModules: true,
        workers: 3,
      }),
      // The same with an engine and a trainer.
      project('engine', {
        include: ['test/engine/*.test.ts', 'test/clients/*.test.ts'],
        setup: 'global-setup',
        workers: 1,
      }),
      // The console in a real browser. Its files share the browser, whose pages compute more than the tests do.
      project('browser', {
        include: ['test/browser/*.test.ts'],
        setup: 'browser-setup',
        sharesModules: true,
        workers: 1,
      }),
      // The artifact store, on a folder and on an S3 server.
      project('store', { include: ['test/store/*.test.ts'] }),
      // Tests that end parts of their stack, or change what holds for all of it.
      project('faults', { include: ['test/faults/*.test.ts'], setup: 'cluster-setup', workers: 1 }),

      // Nightly, each alone on the machine.
      project('hostile', { include: ['test/hostile/*.test.ts'], setup: 'global-setup', workers: 1, minutes: 30 }),
      // Two stacks with an engine and a trainer start, one after the other.
      project('backup', { include: ['test/backup/*.test.ts'], setup: 'cluster-setup', workers: 1, minutes: 30 }),
      project('helm', { include: ['test/helm/*.test.ts'], workers: 1, minutes: 15 }),
      project('rollout', { include: ['test/rollout/*.test.ts'], workers: 1, minutes: 15 }),
      project('postgres', { include: ['test/postgres/*.test.ts'], setup: 'cluster-setup', workers: 1 }),
      project('kueue', { include: ['test/kueue/*.test.ts'], setup: 'cluster-setup' }),
      project('images', { include: ['test/images/*.test.ts'], workers: 1 }),
      // `npm test -- kubelet` builds what it needs.
      project('kubelet', { include: ['test/kubelet/*.test.ts'], workers: 1, minutes: 30 }),
    ],
  },
})
