import { Type } from 'typebox'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'
import { notFound } from '../../../lib/http/http-error.ts'
import { listOf, presentPage, resolveCursor } from '../../../lib/http/page.ts'
import { isUuid } from '../../../lib/http/validation/compile.ts'
import { parseText } from '../../../lib/json/parse-text.ts'
import { listRunFiles } from '../../../db/runs/files.ts'
import { readRunValues } from '../../../db/runs/find.ts'
import { listHistoryKeys } from '../../../db/runs/key-sets.ts'
import { readLines } from '../../../db/runs/read-lines.ts'
import { deleteRun } from '../../../db/runs/remove.ts'
import { findListedRun, listEntityRuns, type ListedRun } from '../../../db/runs/rest-list.ts'
import type { Pool } from '../../../db/pool.ts'
import type { Admission } from '../../accounts/limits/admission.ts'
import type { RestApi } from '../../accounts/rest-api.ts'
import { sendRunFile } from '../run-files/send.ts'
import { readOutputLine } from './output-fields.ts'
import { presentConfig, presentListedRun } from './present-rest.ts'
import { readSampledHistory } from './sampled-history.ts'
import {
  fileListQuery,
  fileListSchema,
  historyQuery,
  historySchema,
  metricListSchema,
  outputQuery,
  outputSchema,
  runDetailSchema,
  runListQuery,
  runSchema,
} from './schema.ts'

export interface RunRestDeps {
  admission: Admission
  artifacts: ArtifactStore
  pool: Pool
}

const tag = 'Runs'
const path = '/v1/preview/runs'
const one = `${path}/{run_id}` as const
const bytes = Type.String({ format: 'binary' })

/** Runs over REST: to list, read and delete them. The wandb SDK writes them. */
export function routeRuns(api: RestApi, deps: RunRestDeps): void {
  const { pool } = deps
  api.get(
    path,
    { tag, summary: 'List runs in the order of their creation', query: runListQuery, answer: listOf(runSchema) },
    async ({ caller, query }) => {
      const findNumber = async (id: string) => (await findListedRun(pool, caller.entity, id))?.number
      const after = await resolveCursor(query.after, findNumber)
      const { project, name, state, order, limit } = query
      const rows = await listEntityRuns(pool, caller.entity, { project, name, state, after, order, limit: limit + 1 })
      return presentPage(rows, limit, presentListedRun)
    },
  )

  api.get(
    one,
    { tag, summary: 'Get a run with its config and summary', answer: runDetailSchema },
    async ({ caller, params }) => {
      const run = await getRun(pool, caller.entity, params.run_id)
      const { config, summary } = await readRunValues(pool, run.number)
      return {
        ...presentListedRun(run),
        config: presentConfig(config),
        summary: parseText(summary) as Record<string, unknown>,
      }
    },
  )

  api.delete(one, { tag, summary: 'Delete a run', status: 204 }, async ({ ctx, caller, params }) => {
    await getRun(pool, caller.entity, params.run_id)
    await deleteRun(pool, { entity: caller.entity, id: params.run_id })
    ctx.status = 204
  })

  routeContents(api, deps)
}

function routeContents(api: RestApi, deps: RunRestDeps): void {
  const { pool } = deps
  api.get(
    `${one}/metrics`,
    { tag, summary: "List the keys of a run's history", answer: metricListSchema },
    async ({ caller, params }) => {
      const { number } = await getRun(pool, caller.entity, params.run_id)
      return { keys: await deps.admission.run('run_reads', () => listHistoryKeys(pool, number)) }
    },
  )

  api.get(
    `${one}/history`,
    {
      tag,
      summary: "Read samples of a run's history",
      description: 'At most `samples` lines at equal distances, with the first and the last one.',
      query: historyQuery,
      answer: historySchema,
    },
    async ({ caller, params, query }) => {
      const { number } = await getRun(pool, caller.entity, params.run_id)
      return readSampledHistory(deps, { run: number, query })
    },
  )

  api.get(
    `${one}/output`,
    { tag, summary: "Read lines of a run's output", query: outputQuery, answer: outputSchema },
    async ({ caller, params, query: { after, limit } }) => {
      const { number } = await getRun(pool, caller.entity, params.run_id)
      const page = { run: number, stream: 'output', after, limit: limit + 1 } as const
      const rows = await readLines(pool, page)
      return { lines: rows.slice(0, limit).map(readOutputLine), has_more: rows.length > limit }
    },
  )
  routeFiles(api, deps)
}

function routeFiles(api: RestApi, deps: RunRestDeps): void {
  const { pool } = deps
  api.get(
    `${one}/files`,
    { tag, summary: "List a run's files by their paths", query: fileListQuery, answer: fileListSchema },
    async ({ caller, params, query: { after, limit } }) => {
      const { number } = await getRun(pool, caller.entity, params.run_id)
      const selection = { run: number, paths: undefined, pattern: undefined }
      const rows = await listRunFiles(pool, selection, { after, limit: limit + 1 })
      const files = rows.slice(0, limit).map((file) => ({
        path: file.path,
        size: file.size,
        sha256: file.digest,
        md5: file.md5,
        updated_at: file.updatedAt.toISOString(),
      }))
      return { files, has_more: rows.length > limit }
    },
  )

  api.get(
    `${one}/files/{path*}`,
    {
      tag,
      summary: "Download a run's file, or a range of it",
      otherAnswers: { 'application/octet-stream': bytes },
      otherStatuses: { 206: bytes, 304: Type.Unknown() },
      errorStatuses: [416],
    },
    async ({ ctx, caller, params }) => {
      const { number } = await getRun(pool, caller.entity, params.run_id)
      await sendRunFile(deps, ctx, { entity: caller.entity, run: number, path: params.path })
    },
  )
}

/** @throws {HttpError} 404 */
async function getRun(pool: Pool, entity: string, id: string): Promise<ListedRun> {
  const run = isUuid(id) ? await findListedRun(pool, entity, id) : undefined
  if (run) return run
  throw notFound('Run', id)
}
