import { measureTables } from '../../../db/tracing/tables.ts'
import type { ProjectDeps } from '../projects.ts'
import type { ValueInspector } from '../objects/value-inspector.ts'
import { countStream } from '../read-memory.ts'
import { sendChunks, streamCost, type QueryDeps } from '../send-chunks.ts'
import { writeArray, writeLines } from '../write-list.ts'
import type { TraceApi } from '../trace-api.ts'
import { checkNames } from '../query/params.ts'
import { createTable, createTableOfDigests } from './create-table.ts'
import { listRows } from './query-table.ts'
import {
  tableCountQuerySchema,
  tableCountSchema,
  tableCreatedSchema,
  tableCreateSchema,
  tableDigestSchema,
  tableFromDigestsSchema,
  tableQuerySchema,
  tableRowSchema,
  tableRowsSchema,
  tableStatisticsQuerySchema,
  tableStatisticsSchema,
  tableUpdatedSchema,
  tableUpdateSchema,
} from './schema.ts'
import { updateTable } from './update-table.ts'

export interface TableDeps extends QueryDeps {
  inspector: ValueInspector
}

const tag = 'Tables'

/** Tables: ordered rows, addressed by the digest of their row digests. */
export function routeTables(api: TraceApi, deps: TableDeps): void {
  routeCreate(api, deps)
  routeUpdate(api, deps)
  routeQuery(api, deps)
  routeStatistics(api, deps)
}

function routeCreate(api: TraceApi, deps: Pick<TableDeps, 'inspector' | 'pool' | 'projects'>): void {
  api.post(
    '/table/create',
    {
      tag,
      summary: 'Create a table from rows',
      stores: true,
      description: 'Rows are objects. A project stores equal rows once. One request has at most 200,000 rows.',
      body: tableCreateSchema,
      texts: ['table.rows'],
      answer: tableCreatedSchema,
    },
    async ({ caller, body: { table } }) => {
      const project = await deps.projects.open(caller, table.project_id)
      const made = await createTable(deps, project, {
        rows: table.rows,
        expectedDigest: table.expected_digest,
      })
      return { digest: made.digest, row_digests: made.rowDigests }
    },
  )
  api.post(
    '/table/create_from_digests',
    {
      tag,
      summary: 'Create a table from digests of rows',
      stores: true,
      description: 'The rows need not exist yet.',
      body: tableFromDigestsSchema,
      answer: tableDigestSchema,
    },
    async ({ caller, body }) => {
      const project = await deps.projects.open(caller, body.project_id)
      const order = { rowDigests: body.row_digests, expectedDigest: body.expected_digest }
      return { digest: await createTableOfDigests(deps.pool, project, order) }
    },
  )
}

function routeUpdate(api: TraceApi, deps: Pick<TableDeps, 'inspector' | 'pool' | 'projects'>): void {
  api.post(
    '/table/update',
    {
      tag,
      summary: 'Create a table from another table and changes',
      stores: true,
      description: 'The changes are applied in their order. The other table does not change.',
      body: tableUpdateSchema,
      texts: ['updates[].append.row', 'updates[].insert.row'],
      answer: tableUpdatedSchema,
    },
    async ({ caller, body }) => {
      const project = await deps.projects.find(caller, body.project_id)
      const made = await updateTable(deps, project, body)
      return { digest: made.digest, updated_row_digests: made.updatedRowDigests }
    },
  )
}

function routeQuery(api: TraceApi, deps: QueryDeps): void {
  const query = { tag, role: 'read', body: tableQuerySchema, cost: streamCost } as const
  api.post(
    '/table/query',
    { ...query, summary: 'List rows of a table', answer: tableRowsSchema },
    async ({ ctx, caller, body }) => {
      const project = await deps.projects.find(caller, body.project_id)
      const rows = listRows({ pool: deps.pool, reading: countStream(deps.memory.open(ctx)) }, project, body)
      await sendChunks(ctx, deps, { type: 'application/json', chunks: writeArray('{"rows":', rows, '}') })
    },
  )
  api.post(
    '/table/query_stream',
    { ...query, summary: 'List rows of a table as JSON lines', otherAnswers: { 'application/jsonl': tableRowSchema } },
    async ({ ctx, caller, body }) => {
      const project = await deps.projects.find(caller, body.project_id)
      const rows = listRows({ pool: deps.pool, reading: countStream(deps.memory.open(ctx)) }, project, body)
      await sendChunks(ctx, deps, { type: 'application/jsonl', chunks: writeLines(rows) })
    },
  )
}

function routeStatistics(api: TraceApi, deps: ProjectDeps): void {
  api.post(
    '/table/query_stats',
    {
      tag,
      summary: 'Count the rows of a table',
      description: 'An unknown table has 0 rows.',
      role: 'read',
      body: tableCountQuerySchema,
      answer: tableCountSchema,
    },
    async ({ caller, body }) => {
      const project = await deps.projects.find(caller, body.project_id)
      const [table] = await measureTables(deps.pool, project.number, { digests: [body.digest], withSize: false })
      return { count: table?.rowCount ?? 0 }
    },
  )
  api.post(
    '/table/query_stats_batch',
    {
      tag,
      summary: 'Count the rows of several tables',
      description: 'Unknown tables are left out.',
      role: 'read',
      body: tableStatisticsQuerySchema,
      answer: tableStatisticsSchema,
    },
    async ({ caller, body }) => {
      const project = await deps.projects.find(caller, body.project_id)
      checkNames(body.digests)
      const asked = { digests: body.digests ?? [], withSize: body.include_storage_size === true }
      const tables = await measureTables(deps.pool, project.number, asked)
      return {
        tables: tables.map(({ digest, rowCount, size }) => ({ digest, count: rowCount, storage_size_bytes: size })),
      }
    },
  )
}
