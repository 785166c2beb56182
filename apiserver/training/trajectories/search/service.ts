import { buffer } from 'node:stream/consumers'
import { artifactKey } from '../../../../artifacts/store/keys.ts'
import { ArtifactMissing } from '../../../../artifacts/store/missing.ts'
import {
  findTrajectoryPosition,
  listTrajectories,
  type TrajectoryRow,
} from '../../../../db/trajectories/trajectories.ts'
import { HttpError } from '../../../../lib/http/http-error.ts'
import { resolveCursor } from '../../../../lib/http/page.ts'
import type { WorkerPool } from '../../../../lib/worker-threads/pool.ts'
import type { Caller } from '../../../accounts/context.ts'
import { errors } from '../../../errors/table.ts'
import { nameModel } from '../../../histories/read-histories.ts'
import { getModel } from '../../models/service.ts'
import { presentTrajectory } from '../present.ts'
import type { MatchesQuery } from '../schema.ts'
import { readFilter, type TrajectoryDeps } from '../service.ts'
import type { Match, TextTask } from './find-text.ts'
import { planReads, type PlannedRead } from './plan-reads.ts'

export interface SearchDeps extends TrajectoryDeps {
  /** Conversations are parsed there. */
  heavyThreads: WorkerPool
}

const module = new URL('find-text.ts', import.meta.url)
const pageBytes = 16 * 1024 * 1024
// A read is parsed in a fraction of a second. On a busy machine it waits.
const timeoutMs = 30_000

/** Searches a text in the next trajectories of a model. @throws {HttpError} 404 for a model that is not the caller's */
export async function searchTrajectories(deps: SearchDeps, caller: Caller, modelId: string, query: MatchesQuery) {
  const { pool } = deps
  const model = await getModel(pool, caller.entity, modelId)
  const after = await resolveCursor(query.after, (cursor) => findTrajectoryPosition(pool, model.id, cursor))
  const { order, limit, text } = query
  const rows = await listTrajectories(pool, model.id, readFilter(query), { after, order, limit: limit + 1 })
  const { reads, planned } = planReads(rows.slice(0, limit), pageBytes)
  const data: (ReturnType<typeof presentTrajectory> & { matches: Match[] })[] = []
  let read = 0
  for (const each of reads) {
    const found = await searchOne(deps, each, { model: nameModel(model), text })
    if (!found) continue
    read += found.length
    for (const [index, matches] of found.entries())
      if (matches.length > 0) data.push({ ...presentTrajectory(each.rows[index]!), matches })
  }
  return {
    data,
    searched: planned,
    skipped: planned - read,
    has_more: planned < rows.length,
    last_id: rows[planned - 1]?.id ?? '',
  }
}

/** The matches in the trajectories of a read; undefined if they are not stored any more. */
async function searchOne(
  { artifacts, heavyThreads, log }: SearchDeps,
  { uri, start, end, rows }: PlannedRead,
  searched: { model: string; text: string },
): Promise<Match[][] | undefined> {
  const payloads = await cut(artifacts, { uri, start, end, rows }).catch((error: unknown) => {
    if (error instanceof ArtifactMissing) return undefined
    log.error({ error }, 'payload not read')
    throw new HttpError(errors.store_unavailable, undefined, { retryAfterSeconds: 10 })
  })
  if (!payloads) return undefined
  return heavyThreads.run<TextTask, Match[][]>({ module, task: { payloads, ...searched }, timeoutMs })
}

async function cut(
  artifacts: TrajectoryDeps['artifacts'],
  { uri, start, end, rows }: PlannedRead,
): Promise<Uint8Array[]> {
  const bytes = await buffer(await artifacts.open(artifactKey(uri)!, { start, end: end - 1 }))
  return rows.map(({ payloadOffset, payloadLength }: TrajectoryRow) =>
    Uint8Array.from(bytes.subarray(payloadOffset - start, payloadOffset - start + payloadLength)),
  )
}
