import { expect, test } from 'vitest'
import { jobStates } from '../../crds/job-states.ts'
import { methodNames } from '../../crds/methods.ts'
import { keyColumns } from '../../db/accounts/api-keys.ts'
import { baseModelColumns } from '../../db/base-models/base-models.ts'
import type { Column } from '../../db/columns.ts'
import { erasureColumns } from '../../db/erasure/requests.ts'
import { garbageColumns } from '../../db/gc/garbage.ts'
import { jobColumns } from '../../db/jobs/table.ts'
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
import { useTestDatabase } from '../support/database.ts'

const database = useTestDatabase()

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

test.each<[string, readonly string[]]>([
  ['state', jobStates],
  ['method', methodNames],
])('the table of jobs accepts exactly the declared values of a %s', async (column, declared) => {
  const { rows } = await database.pool.query<{ definition: string }>(
    `SELECT pg_get_constraintdef(oid) AS definition FROM pg_constraint
     WHERE conrelid = 'training.jobs'::regclass AND conname = $1`,
    [`jobs_${column}_check`],
  )
  const values = [...rows[0]!.definition.matchAll(/'(\w+)'/g)].map(([, value]) => value)
  expect(values).toEqual([...declared])
})
