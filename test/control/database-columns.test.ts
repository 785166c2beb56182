import path from 'node:path'
import { runner } from 'node-pg-migrate'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { jobStates } from '../../crds/job-states.ts'
import { keyColumns } from '../../db/accounts/api-keys.ts'
import { baseModelColumns } from '../../db/base-models/base-models.ts'
import type { Column } from '../../db/columns.ts'
import { erasureColumns } from '../../db/erasure/requests.ts'
import { garbageColumns } from '../../db/gc/garbage.ts'
import { jobColumns } from '../../db/jobs/table.ts'
import { migrate } from '../../db/migrate.ts'
import { aliasColumns } from '../../db/models/aliases.ts'
import { modelColumns } from '../../db/models/table.ts'
import { costColumns } from '../../db/tracing/costs.ts'
import { feedbackColumns } from '../../db/tracing/feedback.ts'
import { objectColumns } from '../../db/tracing/objects.ts'
import { responseColumns } from '../../db/responses/responses.ts'
import { runFileColumns } from '../../db/runs/files.ts'
import { runColumns } from '../../db/runs/table.ts'
import { logColumns } from '../../db/trajectories/logs.ts'
import { trajectoryColumns } from '../../db/trajectories/trajectories.ts'
import { deliveryColumns } from '../../db/webhooks/deliveries.ts'
import { webhookColumns } from '../../db/webhooks/webhooks.ts'
import { writtenColumns } from '../../db/tracing/call-rows.ts'
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../support/database.ts'
import { log } from '../support/template-database.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})

afterAll(() => database.drop())

const tables: Record<string, readonly Pick<Column<unknown>, 'name' | 'type'>[]> = {
  'training.jobs': Object.values(jobColumns),
  'training.models': Object.values(modelColumns),
  'training.base_models': Object.values(baseModelColumns),
  'training.aliases': Object.values(aliasColumns),
  'training.logs': Object.values(logColumns),
  'training.trajectories': Object.values(trajectoryColumns),
  'training.webhooks': Object.values(webhookColumns),
  'training.webhook_deliveries': Object.values(deliveryColumns),
  'training.responses': Object.values(responseColumns),
  'training.runs': Object.values(runColumns),
  'training.run_files': Object.values(runFileColumns),
  'training.erasures': Object.values(erasureColumns),
  'training.garbage': Object.values(garbageColumns),
  'auth.api_keys': Object.values(keyColumns),
  'tracing.calls': writtenColumns,
  'tracing.costs': Object.values(costColumns),
  'tracing.feedback': Object.values(feedbackColumns),
  'tracing.object_versions': Object.values(objectColumns),
}

test.each(Object.entries(tables))('%s has every declared column, of the declared type', async (table, declared) => {
  const { rows } = await database.pool.query(
    `SELECT name, type FROM unnest($2::text[], $3::text[]) AS declared (name, type)
     LEFT JOIN pg_attribute a ON a.attrelid = $1::regclass AND a.attname = declared.name AND NOT a.attisdropped
     WHERE a.atttypid IS DISTINCT FROM declared.type::regtype`,
    [table, declared.map(({ name }) => name), declared.map(({ type }) => type)],
  )
  expect(rows).toEqual([])
})

test('the table of jobs accepts exactly the states of jobs', async () => {
  const { rows } = await database.pool.query<{ definition: string }>(
    `SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint
     WHERE conrelid = 'training.jobs'::regclass AND conname = 'jobs_state_check'`,
  )
  const states = [...rows[0]!.definition.matchAll(/'(\w+)'/g)].map(([, state]) => state)
  expect(states).toEqual([...jobStates])
})

test('0017 and 0018 keep the data of an earlier database', async () => {
  const own = await createEmptyDatabase()
  try {
    await migrateTo(own.databaseUrl, 16)
    await own.pool.query(
      `WITH model AS (
         INSERT INTO training.models (entity, project, name, base_model, namespace, cr_name, cr_made_at, cleared_at, purged_at)
         VALUES ('e', 'p', 'n', 'b', 'ns', 'cr', '2026-01-01Z', '2026-01-02Z', '2026-01-03Z') RETURNING id
       ), job AS (
         INSERT INTO training.jobs (model_id, method, input_uri, config, spec_digest, namespace, cr_name, cr_made_at, input_gone_at, input_fault)
         SELECT id, 'RL', 'u', '{}', 'd', 'ns', 'cr', '2026-01-04Z', '2026-01-05Z', '2026-01-09Z' FROM model
       ), garbage AS (INSERT INTO training.garbage (prefix, bytes, noted_at) VALUES ('payloads/e/a', 1, '2026-01-06Z'))
       INSERT INTO training.checkpoints (id, model_id, step, uri, digest, metrics, purged_at, optimizer_gone_at)
       SELECT gen_random_uuid(), id, 1, 'u', 'd', '{}', '2026-01-07Z', '2026-01-08Z' FROM model`,
    )
    await migrate(own.databaseUrl, log)
    const { rows } = await own.pool.query<Record<string, Date>>(
      `SELECT m.resource_created_at AS a, m.files_removed_at AS b, m.rows_removed_at AS c, j.resource_created_at AS d,
         j.input_removed_at AS e, g.quarantined_at AS f, c.files_removed_at AS g, c.optimizer_removed_at AS h,
         j.input_error::timestamptz AS i
       FROM training.models m JOIN training.jobs j ON j.model_id = m.id JOIN training.checkpoints c ON c.model_id = m.id,
         training.garbage g`,
    )
    const days = rows.map((row) => Object.values(row).map((time) => time.getUTCDate()))
    expect(days).toEqual([[1, 2, 3, 4, 5, 6, 7, 8, 9]])
    // The triggers use the renamed columns and functions.
    await own.pool.query(`UPDATE training.jobs SET state = 'Queued', resource_created_at = now()`)
    const { rowCount } = await own.pool.query(`SELECT FROM training.outbox WHERE kind = 'training_job.queued'`)
    expect(rowCount).toBe(1)
  } finally {
    await own.drop()
  }
})

async function migrateTo(databaseUrl: string, count: number): Promise<void> {
  const dir = path.join(import.meta.dirname, '../../db/migrations')
  await runner({
    databaseUrl,
    dir,
    count,
    direction: 'up',
    migrationsTable: 'migrations',
    migrationsSchema: 'public',
    log: () => {},
  })
}
