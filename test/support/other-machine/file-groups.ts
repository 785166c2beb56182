import type { FileGroup } from '../file-shares.ts'

/**
 * Folders and files of each project whose tests depend on what machines differ in: programs in the search path, ports, the time
 * zone and the locale, modes of new files, names of folders, addresses, and proxies. `python` is that of the trainer.
 */
export const fileGroups: Readonly<Record<string, FileGroup>> = {
  unit: { share: 2, files: ['apiserver/', 'console/', 'lib/', 'local/', 'operator/'] },
  control: {
    share: 3,
    files: [
      'test/control/artifacts.test.ts',
      'test/control/audit-log.test.ts',
      'test/control/control-pods.test.ts',
      'test/control/data-sets.test.ts',
      'test/control/database-connections.test.ts',
      'test/control/garbage.test.ts',
      'test/control/gateway.test.ts',
      'test/control/ingest.test.ts',
      'test/control/job-life-cycle.test.ts',
      'test/control/job-notifications.test.ts',
      'test/control/limits.test.ts',
      'test/control/listen.test.ts',
      'test/control/metrics.test.ts',
      'test/control/spool.test.ts',
      'test/control/start-estimate.test.ts',
      'test/control/tracing-costs.test.ts',
      'test/control/tracing-digests.test.ts',
      'test/control/tracing-retention.test.ts',
      'test/control/tracing-streams.test.ts',
      'test/control/usage.test.ts',
      'test/control/wandb-runs.test.ts',
      'test/control/webhook-secrets.test.ts',
    ],
  },
  browser: {
    share: 1,
    files: [
      'test/browser/calls.test.ts',
      'test/browser/live.test.ts',
      'test/browser/login.test.ts',
      'test/browser/places.test.ts',
      'test/browser/screens.test.ts',
      'test/browser/sessions.test.ts',
      'test/browser/states.test.ts',
      'test/browser/traces.test.ts',
      'test/browser/trajectories.test.ts',
    ],
  },
  python: {
    share: 3,
    files: [
      'trainer/trainyard_artifacts/bucket_policies_test.py',
      'trainer/trainyard_artifacts/store_test.py',
      'trainer/trainyard_base_model/download_test.py',
      'trainer/trainyard_colocated/supervision_test.py',
      'trainer/trainyard_engine/engine_start_test.py',
      'trainer/trainyard_trainer/outside_names_test.py',
      'trainer/trainyard_trainer/reports/claims_test.py',
      'trainer/trainyard_trainer/reports/job_log_test.py',
      'trainer/trainyard_trainer/shared_volume_test.py',
      'trainer/trainyard_trainer/store_failures_test.py',
      'trainer/trainyard_trainer/worker_test.py',
    ],
  },
}
