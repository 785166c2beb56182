/**
 * Folders and files of each project whose tests depend on what machines differ in: programs in the search path, ports, the time
 * zone and the locale, modes of new files, names of folders, addresses, and proxies. `python` is that of the trainer.
 */
export const fileGroups: Readonly<Record<string, readonly string[]>> = {
  unit: ['apiserver/', 'console/', 'lib/', 'local/', 'operator/'],
  db: [
    'test/db/garbage.test.ts',
    'test/db/job-life-cycle.test.ts',
    'test/db/job-notifications.test.ts',
    'test/db/listen.test.ts',
    'test/db/tracing-retention.test.ts',
  ],
  api: [
    'test/api/artifacts.test.ts',
    'test/api/audit-log.test.ts',
    'test/api/data-sets.test.ts',
    'test/api/ingest.test.ts',
    'test/api/limits.test.ts',
    'test/api/spool.test.ts',
    'test/api/start-estimate.test.ts',
    'test/api/tracing-costs.test.ts',
    'test/api/tracing-digests.test.ts',
    'test/api/tracing-streams.test.ts',
    'test/api/usage.test.ts',
    'test/api/wandb-runs.test.ts',
    'test/api/webhook-secrets.test.ts',
  ],
  cluster: [
    'test/cluster/control-pods.test.ts',
    'test/cluster/database-connections.test.ts',
    'test/cluster/gateway.test.ts',
    'test/cluster/metrics.test.ts',
  ],
  browser: [
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
  python: [
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
}
