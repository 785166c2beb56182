import { buffer } from 'node:stream/consumers'
import { artifactKey } from '../../../artifacts/store/keys.ts'
import { ArtifactMissing } from '../../../artifacts/store/missing.ts'
import type { ArtifactStore } from '../../../artifacts/store/store.ts'
import type { Pool } from '../../../db/pool.ts'
import type { ModelRow } from '../../../db/models/models.ts'
import { findTrajectory, type TrajectoryRow } from '../../../db/trajectories/trajectories.ts'
import { EventLoopYielder } from '../../../lib/event-loop.ts'
import { HttpError, notFound } from '../../../lib/http/http-error.ts'
import { findMember } from '../../../lib/json/find-member.ts'
import { rawList, rawObject, rawText } from '../../../lib/json/raw.ts'
import { errors } from '../../errors/table.ts'
import { splitItems } from '../tables/split-rows.ts'
import type { RowsReservation } from './rows-reservation.ts'

export interface TrajectorySourceDeps {
  artifacts: ArtifactStore
  /** The pool of the database with the models. */
  training: Pool
}

interface TrajectorySource {
  model: ModelRow
  ids: readonly string[]
  rows: RowsReservation
}

/**
 * Reads trajectories as rows, in the order of the ids. @throws {HttpError} 404 for an unknown trajectory, 413 for
 * trajectories that are too large together
 */
export async function readTrajectoryRows(
  { artifacts, training }: TrajectorySourceDeps,
  { model, ids, rows }: TrajectorySource,
): Promise<string[]> {
  const written: string[] = []
  const yielder = new EventLoopYielder()
  for (const id of ids) {
    const trajectory = await findTrajectory(training, model.id, id)
    if (!trajectory) throw notFound('Trajectory', id)
    rows.expect(trajectory.payloadLength)
    written.push(writeRow(model, trajectory, await readPayload(artifacts, trajectory)))
    if (yielder.isDue()) await yielder.yield()
  }
  return written
}

async function readPayload(artifacts: ArtifactStore, row: TrajectoryRow): Promise<Buffer> {
  const { payloadUri, payloadOffset: start, payloadLength } = row
  try {
    return await buffer(await artifacts.open(artifactKey(payloadUri)!, { start, end: start + payloadLength - 1 }))
  } catch (error) {
    if (!(error instanceof ArtifactMissing)) throw error
    throw new HttpError(errors.not_found, `The payload of the trajectory ${row.id} is no longer stored.`)
  }
}

/** The conversation as messages, the tools that it could use, its reward, and what it is a copy of. */
function writeRow(model: ModelRow, trajectory: TrajectoryRow, payload: Buffer): string {
  const items = findMember(payload, 'messages_and_choices')
  const messages = items?.first === '[' ? Array.from(splitItems(items.bytes), messageOf) : []
  const tools = findMember(payload, 'tools')
  return rawObject({
    messages: rawText(rawList(messages)),
    tools: tools?.first === '[' ? rawText(tools.toString()) : undefined,
    reward: trajectory.reward,
    metrics: trajectory.metrics,
    scenario_id: trajectory.scenarioId ?? undefined,
    step: trajectory.step ?? undefined,
    model: `${model.entity}/${model.project}/${model.name}`,
    trajectory: trajectory.id,
  })
}

/** A choice becomes its message. */
function messageOf(item: string): string {
  const message = item.startsWith('{') ? findMember(Buffer.from(item), 'message') : undefined
  return message?.first === '{' ? message.toString() : item
}
