/** The programs that kill themselves (`hook.ts`). */
export type WatchedPart = 'apiserver' | 'operator' | 'status-server' | 'node-agent'
/** Those that tests kill: at reports and files of the trainer (`survival_test.py`), and at requests to an engine. */
export type Part = WatchedPart | 'trainer' | 'engine'
/** Before and after something takes effect. */
export type When = 'before' | 'after'

/** Something that a process does to the world outside. */
export interface Effect {
  /** A statement or a transaction, a request to the Kubernetes API, a change of the artifact store, of a file, or of a process. */
  kind: 'sql' | 'kube' | 'store' | 'file' | 'process'
  text: string
}

export interface Point {
  name: string
  part: Part
}

interface WatchedPoint extends Point {
  part: WatchedPart
  kind: Effect['kind']
  matches: RegExp
  when: When
}

// What each part changes, in the order of a job's life: the name of the effect, its kind, and a statement of its transaction,
// the method and the end of the path of its request, or the operation of the store with its key. Of the node agent, in the order of
// a pod's life, also the operation with the path of a file, and a started or signalled process.
const effects: Record<WatchedPart, readonly (readonly [name: string, kind: Effect['kind'], matches: RegExp])[]> = {
  apiserver: [
    ['request claimed', 'sql', /^INSERT INTO auth\.idempotent_requests/],
    ['model row', 'sql', /^INSERT INTO training\.models/],
    ['model resource', 'kube', /^POST .*\/models$/],
    ['model resource recorded', 'sql', /^UPDATE training\.models SET resource_created_at/],
    ['payload key held', 'sql', /INSERT INTO training\.held_keys/],
    ['payload', 'store', /^adopt payloads\//],
    ['job row', 'sql', /^INSERT INTO training\.jobs/],
    ['job resource', 'kube', /^POST .*\/trainingjobs$/],
    ['payload key let go', 'sql', /^DELETE FROM training\.held_keys/],
    ['answer kept', 'sql', /^UPDATE auth\.idempotent_requests SET answer/],
    ['job cancelled', 'sql', /^UPDATE training\.jobs SET cancel_requested_at/],
    ['file', 'store', /^adopt artifacts\//],
    ['file row', 'sql', /^INSERT INTO training\.blobs/],
    ['data set version', 'sql', /^(INSERT INTO training\.artifacts|WITH given AS .*UPDATE training\.artifacts)/],
    ['alias', 'sql', /^INSERT INTO training\.aliases/],
    ['alias deleted', 'sql', /^DELETE FROM training\.aliases WHERE model_id = \$1 AND alias/],
    ['checkpoint copied', 'store', /^copyAll checkpoints\//],
    ['fork', 'sql', /^INSERT INTO training\.checkpoints .* forked_from\)/],
    ['checkpoint deleted', 'sql', /^UPDATE training\.checkpoints SET deleted_at .* step = ANY/],
    ['model deleted', 'sql', /^UPDATE training\.models SET deleted_at = clock_timestamp/],
    ['webhook', 'sql', /^INSERT INTO training\.webhooks/],
    ['webhook deleted', 'sql', /^UPDATE training\.webhooks SET deleted_at/],
    ['key', 'sql', /^INSERT INTO auth\.api_keys/],
    ['key revoked', 'sql', /^UPDATE auth\.api_keys SET revoked_at/],
    ['erasure requested', 'sql', /^INSERT INTO training\.erasures/],
    ['traced projects closed', 'sql', /^UPDATE tracing\.projects SET closed_at/],
  ],
  operator: [
    ['lease', 'kube', /^PUT .*\/leases\//],
    ['model finalizer', 'kube', /^PATCH .*\/models\/[^/]+$/],
    ['model status', 'kube', /^PATCH .*\/models\/[^/]+\/status$/],
    ['job finalizer', 'kube', /^PATCH .*\/trainingjobs\/[^/]+$/],
    ['job status', 'kube', /^PATCH .*\/trainingjobs\/[^/]+\/status$/],
    ['event', 'kube', /^POST .*\/events$/],
    ['model row of a resource', 'sql', /^INSERT INTO training\.models/],
    ['job row of a resource', 'sql', /^INSERT INTO training\.jobs/],
    ['job resource recorded', 'sql', /^UPDATE training\.jobs SET resource_created_at/],
    ['job queued', 'sql', /^UPDATE training\.jobs SET state = 'Queued'/],
    ['job ended', 'sql', /^UPDATE training\.jobs SET state = \$2/],
    ['outbox numbered', 'sql', /^UPDATE training\.outbox_head/],
    ['deliveries claimed', 'sql', /^WITH due AS/],
    [
      'delivery recorded',
      'sql',
      /UPDATE training\.webhook_deliveries SET claim = NULL, claimed_until = NULL, last_status/,
    ],
    ['progress removed', 'store', /^removeAll progress\//],
    ['progress row removed', 'sql', /^DELETE FROM training\.job_progress/],
    ['optimizer removed', 'store', /^remove checkpoints\//],
    ['optimizer recorded', 'sql', /^UPDATE training\.checkpoints SET optimizer_removed_at/],
    ['checkpoint measured', 'sql', /^UPDATE training\.checkpoints SET bytes/],
    ['checkpoint files removed', 'store', /^removeAll checkpoints\//],
    ['payload removed', 'store', /^remove payloads\//],
    ['payload removal recorded', 'sql', /^UPDATE training\.jobs SET input_removed_at/],
    ['model files recorded', 'sql', /^UPDATE training\.models SET files_removed_at/],
    ['model resource deleted', 'kube', /^DELETE .*\/models\//],
    ['job resource deleted', 'kube', /^DELETE .*\/trainingjobs\//],
    ['jobs erased', 'sql', /^WITH gone AS \( DELETE FROM training\.jobs /],
    ['models erased', 'sql', /^WITH gone AS \( DELETE FROM training\.models /],
    ['erasure finished', 'sql', /^UPDATE training\.erasures SET finished_at/],
  ],
  'status-server': [
    ['report service', 'sql', /^INSERT INTO training\.report_service/],
    ['job claimed', 'sql', / claimed AS \(UPDATE training\.jobs SET/],
    ['events', 'sql', /^INSERT INTO training\.events/],
    ['log', 'sql', /^INSERT INTO training\.job_logs .* SELECT/],
    ['lease renewed', 'sql', /^UPDATE training\.jobs SET lease_expires_at/],
    ['progress', 'sql', /^INSERT INTO training\.job_progress/],
    ['checkpoint', 'sql', /^INSERT INTO training\.checkpoints/],
    ['attempt ended', 'sql', /^UPDATE training\.jobs SET state = 'Queued'/],
    ['token statistics', 'sql', /^UPDATE training\.checkpoints SET statistics_at/],
    ['attempt dropped', 'sql', /^UPDATE training\.job_attempts SET stopping_since = NULL .* attempt = \$2/],
  ],
  'node-agent': [
    ['node', 'kube', /^PATCH .*\/nodes\/[^/]+$/],
    ['node status', 'kube', /^PATCH .*\/nodes\/[^/]+\/status$/],
    ['heartbeat', 'kube', /^PATCH .*\/leases\//],
    ['pod folder', 'file', /^rename .*\/identity\.json$/],
    ['address', 'file', /^rename .*\/addresses\.json$/],
    ['volume file', 'file', /^rename .*\/volumes\//],
    ['run', 'file', /^rename .*\/run\.json$/],
    ['process started', 'process', /^spawn .*\/shim\.sh /],
    ['pod status', 'kube', /^PATCH .*\/pods\/[^/]+\/status$/],
    ['event', 'kube', /^POST .*\/events$/],
    ['process signalled', 'process', /^kill SIGTERM$/],
    ['old run removed', 'file', /^rm .*\/containers\/[^/]+\/\d+$/],
    ['pod resource deleted', 'kube', /^DELETE .*\/pods\//],
    ['pod folder removed', 'file', /^rm .*\/pods\/[^/]+$/],
  ],
}

/** All points at which processes kill themselves. */
export const watchedPoints: readonly WatchedPoint[] = (Object.keys(effects) as WatchedPart[]).flatMap((part) =>
  effects[part].flatMap(([effect, kind, matches]) =>
    (['before', 'after'] as const).map((when) => ({ name: `${part}: ${when} ${effect}`, part, kind, matches, when })),
  ),
)

/** The points at which trainer/trainyard_trainer/survival_test.py kills the trainer of an RL job. */
export const trainerPoints = [
  'after the claim',
  'early in its start',
  'late in its start',
  'before training_started',
  'after training_started',
  'before step 1',
  'after step 1',
  'while it writes progress',
  'before progress',
  'after progress',
  'before step 3',
  'after step 3',
  'while it writes progress again',
  'before the last step',
  'after the last step',
  'while it writes the checkpoint',
  'before the checkpoint',
] as const

/** The points at which test/engine/faults.nightly.test.ts kills the engine. */
export const enginePoints = ['while a job trains', 'in a chat', 'while it loads an adapter', 'in its start'] as const

/** All points at which a process is killed. */
export const points: readonly Point[] = [
  ...watchedPoints,
  ...trainerPoints.map((name) => ({ name: `trainer: ${name}`, part: 'trainer' as const })),
  ...enginePoints.map((name) => ({ name: `engine: ${name}`, part: 'engine' as const })),
]

/** The first of these points that an effect is at. */
export function findPoint(names: readonly string[], when: When, done: readonly Effect[]): Point | undefined {
  const isAt = (point: WatchedPoint) =>
    point.when === when && done.some(({ kind, text }) => kind === point.kind && point.matches.test(text))
  return watchedPoints.find((point) => names.includes(point.name) && isAt(point))
}
