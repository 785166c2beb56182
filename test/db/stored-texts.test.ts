import { expect, test } from 'vitest'
import { sumStoredBytes } from '../../db/accounts/quota-use.ts'
import { countedTables } from '../../db/accounts/stored-texts.ts'
import { useTestDatabase } from '../support/database.ts'

const database = useTestDatabase()

/** Why a text need not count: it is counted elsewhere, short, of the service, or kept for a short time. */
const decisions: Record<string, Record<string, string>> = {
  counted: {
    'training.run_lines': 'text',
    'training.run_key_sets': 'keys',
    'training.responses': 'input response',
    'tracing.calls': 'exception attributes inputs output summary otel_dump spilled',
    'tracing.feedback': 'payload',
    'tracing.files': 'content',
    'tracing.object_versions': 'val',
    'tracing.table_chunks': 'row_digests',
    'tracing.table_rows': 'val',
  },
  // Parts of texts that count.
  copied: {
    'training.trajectories': 'scenario_id metrics flags',
    'tracing.calls': 'input_refs output_refs',
    'tracing.object_versions': 'base_object_class leaf_object_class',
    'training.events': 'type data',
    'training.outbox': 'entity project kind data',
  },
  // At most 4,096 characters, by the schemas of requests or by rules of names.
  short: {
    'auth.api_keys': 'digest prefix entity name role trace_project',
    'auth.entities': 'entity token_statistics trace_project',
    'auth.idempotent_requests': 'entity key route digest',
    'training.aliases': 'alias',
    'training.artifact_aliases': 'alias',
    'training.artifact_versions': 'digest manifest_digest run_name client_id',
    'training.artifacts': 'entity project name type',
    'training.blobs': 'entity digest md5 object',
    'training.checkpoint_versions': 'digest run_name client_id',
    'training.jobs':
      'method input_uri input_digest state spec_digest namespace cr_name entity project mode queue_name priority_class_name',
    'training.logs': 'split payload_uri payload_digest',
    'training.models': 'entity project name base_model namespace cr_name retention deletion_policy resource_aliases',
    'training.pending_artifacts': 'entity project name type digest run_name client_id manifest_md5 manifest_blob',
    'training.responses': 'id entity project previous_id root_id',
    'training.run_files': 'entity path digest md5',
    'training.run_key_sets': 'digest',
    'training.runs': 'entity project name state',
    'training.trajectories': 'split prompt_hash payload_uri',
    'training.webhooks': 'entity project url events description sealed_secret sealed_old_secret',
    'tracing.calls': 'id trace_id parent_id thread_id turn_id op_name display_name wb_user_id wb_run_id',
    'tracing.costs': 'id llm_id provider_id prompt_token_cost_unit completion_token_cost_unit created_by',
    'tracing.feedback':
      'id weave_ref call_id feedback_type creator wb_user_id annotation_ref runnable_ref call_ref trigger_ref',
    'tracing.files': 'digest artifact_key',
    'tracing.object_aliases': 'object_id alias digest',
    'tracing.object_tags': 'object_id digest tag',
    'tracing.object_versions': 'object_id kind digest wb_user_id',
    'tracing.objects': 'object_id kind latest',
    'tracing.projects': 'entity name',
    'tracing.table_chunks': 'table_digest',
    'tracing.table_rows': 'digest',
    'tracing.tables': 'digest',
  },
  // Answers to an Idempotency-Key.
  'kept for a day': { 'auth.idempotent_requests': 'answer' },
  'of the service': {
    'auth.audit_log': '*',
    'auth.login_codes': '*',
    'auth.request_counts': '*',
    'auth.sessions': '*',
    'public.migrations': '*',
    'public.tracing_migrations': '*',
    'tracing.held_keys': '*',
    'tracing.replaced_payloads': '*',
    'training.base_model_sources': '*',
    'training.base_models': '*',
    'training.checkpoints': '*',
    'training.deletions': '*',
    'training.draining_trainers': '*',
    'training.engine_adapters': '*',
    'training.engine_demand': '*',
    'training.entity_queues': '*',
    'training.erasures': '*',
    'training.garbage': '*',
    'training.held_keys': '*',
    'training.installation': '*',
    'training.job_logs': '*',
    'training.job_progress': '*',
    'training.jobs': 'failure input_error creation_warnings training_warnings waiting_reason',
    'training.metric_buckets': '*',
    'training.queue_corrections': '*',
    'training.queue_pauses': '*',
    'training.usage': '*',
    'training.webhook_deliveries': '*',
  },
}

/** Columns without a limit of their own, as `table.column`. Those of a partition are those of its table. */
async function listTexts(): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    `SELECT c.oid::regclass || '.' || a.attname AS name
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND c.relkind IN ('r', 'p')
       AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped
       AND (a.atttypid IN ('text'::regtype, 'varchar'::regtype, 'json'::regtype, 'jsonb'::regtype, 'bytea'::regtype)
         OR a.atttypid IN (SELECT oid FROM pg_type WHERE typcategory = 'A'))`,
  )
  return rows.map(({ name }) => (name.includes('.', name.indexOf('.') + 1) ? name : `public.${name}`))
}

test('each column of texts counts as stored bytes, or somebody has decided that it need not', async () => {
  const counting = Object.entries(countedTables).flatMap(([table, { columns }]) =>
    columns.map((name) => `${table}.${name}`),
  )
  const decided = [
    ...counting,
    ...Object.values(decisions).flatMap((tables) =>
      Object.entries(tables).flatMap(([table, names]) => names.split(' ').map((name) => `${table}.${name}`)),
    ),
  ]
  const texts = await listTexts()
  const isDecided = (name: string) => decided.includes(name) || decided.includes(name.replace(/[^.]+$/, '*'))
  expect(texts.filter((name) => !isDecided(name))).toEqual([])
  expect(decided.filter((name) => !name.endsWith('*') && !texts.includes(name))).toEqual([])
  expect(new Set(decided).size).toBe(decided.length)
})

const random = `(SELECT string_agg(md5(n::text), '') FROM generate_series(1, 1000) AS n)`
const run = `INSERT INTO training.runs (entity, project, name, key_id) VALUES ($1, 'p', 'r', gen_random_uuid())`
const artifact = `INSERT INTO training.artifacts (entity, project, name) VALUES ($1, 'p', 'a')`

// 32,000 characters that cannot be compressed.
test.each<[string, string[]]>([
  ['notes of runs', [run, `UPDATE training.runs SET notes = ${random} WHERE entity = $1`]],
  [
    'files of artifacts',
    [
      artifact,
      `INSERT INTO training.artifact_versions (id, artifact_id, version, digest, size, files, metadata, key_id)
       SELECT gen_random_uuid(), id, 0, 'd', 0, to_jsonb(${random}), '{}', gen_random_uuid()
       FROM training.artifacts WHERE entity = $1`,
    ],
  ],
  [
    'metadata of pending artifacts',
    [
      `INSERT INTO training.pending_artifacts (id, entity, project, name, type, key_id, digest, aliases, metadata)
       VALUES (gen_random_uuid(), $1, 'p', 'a', 't', gen_random_uuid(), 'd', '[]', to_json(${random}))`,
    ],
  ],
  [
    'responses',
    [
      `INSERT INTO training.responses (id, entity, root_id, created_at, bytes, input, response)
       VALUES ($1, $1, 'r', now(), 32000, ${random}, '')`,
    ],
  ],
])('%s count', async (what, statements) => {
  const { pool } = database
  expect(await sumStoredBytes(pool, what)).toBe(0)
  for (const statement of statements) await pool.query(statement, [what])
  expect(await sumStoredBytes(pool, what)).toBeGreaterThanOrEqual(32_000)
  expect(await sumStoredBytes(pool, what)).toBeLessThan(34_000)
})
