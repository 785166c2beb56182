import { chooseShare } from './random-cases.ts'

/** Test files of one kind, each with long scenarios. `npm test` runs `share` of them. */
export interface FileGroup {
  share: number
  files: readonly string[]
}

/**
 * The groups take half of the time of all tests. Rules, errors, tenants, ART and the main job are not in them: their tests run
 * each time.
 * `npm run test:deep` runs all files, and so does a run that names them.
 */
export const fileGroups: readonly FileGroup[] = [
  {
    // Engines and trainers that come, go and change.
    share: 3,
    files: [
      'test/control/base-model-pods.test.ts',
      'test/control/deleted-base-model.test.ts',
      'test/control/engine-adapters.test.ts',
      'test/control/engine-autoscaling.test.ts',
      'test/control/engine-rollout.test.ts',
      'test/control/engine-routing.test.ts',
      'test/control/failing-trainers.test.ts',
      'test/control/trainer-autoscaling.test.ts',
      'test/control/unloadable-adapters.test.ts',
    ],
  },
  {
    // Starts and ends of the control parts.
    share: 2,
    files: [
      'test/control/answers-from-memory.test.ts',
      'test/control/backup.test.ts',
      'test/control/other-secrets.test.ts',
      'test/control/readiness.test.ts',
      'test/control/step-down.test.ts',
      'test/control/tracing-database.test.ts',
    ],
  },
  {
    // What the trace server writes, and reads with large or hostile values.
    share: 3,
    files: [
      'test/control/tracing-durability.test.ts',
      'test/control/tracing-feedback.test.ts',
      'test/control/tracing-fuzz.test.ts',
      'test/control/tracing-hostile-values.test.ts',
      'test/control/tracing-large-reads.test.ts',
      'test/control/tracing-otel-limits.test.ts',
      'test/control/tracing-query.test.ts',
      'test/control/tracing-refs.test.ts',
      'test/control/tracing-tables.test.ts',
    ],
  },
  {
    // Whole lives of clients that trace.
    share: 2,
    files: [
      'test/clients/tracing/opentelemetry.test.ts',
      'test/clients/tracing/weave-calls.test.ts',
      'test/clients/tracing/weave-differential.test.ts',
      'test/clients/tracing/weave-feedback.test.ts',
      'test/clients/tracing/weave-npm.test.ts',
      'test/clients/tracing/weave-objects.test.ts',
      'test/clients/tracing/weave-oldest.test.ts',
    ],
  },
  {
    // The pages that operators read: logs, metrics, events.
    share: 3,
    files: [
      'test/control/audit-log.test.ts',
      'test/control/chat-traces.test.ts',
      'test/control/events-stream.test.ts',
      'test/control/garbage.test.ts',
      'test/control/job-logs.test.ts',
      'test/control/metrics.test.ts',
      'test/control/monitors.test.ts',
      'test/control/operator-rules.test.ts',
    ],
  },
  {
    // Random and hostile requests to the whole server.
    share: 1,
    files: ['test/control/contract.test.ts', 'test/control/hostile.test.ts'],
  },
  {
    // Whole lives of clients of the wandb SDK.
    share: 1,
    files: ['test/control/wandb-artifacts-sdk.test.ts', 'test/control/wandb-runs-sdk.test.ts'],
  },
  {
    // Lost parts, requests and resources.
    share: 3,
    files: [
      'test/faults/change-feed.test.ts',
      'test/faults/held-keys.test.ts',
      'test/faults/idempotency.test.ts',
      'test/faults/last-kill-points.test.ts',
      'test/faults/lost-resources.test.ts',
      'test/faults/model-deletion.test.ts',
      'test/faults/node-agent.test.ts',
      'test/faults/sft-jobs.test.ts',
      'test/faults/webhooks.test.ts',
    ],
  },
  {
    // Models and clients with the real engine.
    share: 4,
    files: [
      'test/clients/agents.test.ts',
      'test/clients/openai-endpoints.test.ts',
      'test/clients/weave-completions.test.ts',
      'test/integration/chat-request-fields.test.ts',
      'test/integration/console-story.test.ts',
      'test/integration/custom-resources.test.ts',
      'test/integration/console-snippets.test.ts',
      'test/integration/examples.test.ts',
      'test/integration/model-life.test.ts',
      'test/integration/opposite-adapters.test.ts',
      'test/integration/tools.test.ts',
      'test/integration/tracing-completions.test.ts',
      'test/integration/usage.test.ts',
    ],
  },
]

/** Returns the files that a run leaves to others. Its seed chooses; a deep run has none. */
export function findLeftOut(): string[] {
  return fileGroups.flatMap(({ files, share }) => {
    const chosen = chooseShare(files, share)
    return files.filter((file) => !chosen.includes(file))
  })
}
