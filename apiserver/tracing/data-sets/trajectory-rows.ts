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
import { nameModel } from '../../histories/read-histories.ts'
import { writeHistories } from '../../histories/write-histories.ts'
import type { HistoriesTask } from '../../histories/write-worker.ts'
import type { WorkerPool } from '../../../lib/worker-threads/pool.ts'
import { tooLarge } from '../errors.ts'
import { splitItems } from '../tables/split-rows.ts'
import type { ReadMemory } from '../read-memory.ts'

export interface TrajectorySourceDeps {
  artifacts: ArtifactStore
  /** Captured exchanges are parsed there. */
  heavyThreads: WorkerPool
  /** The pool of the database with the models. */
  training: Pool
}

interface TrajectorySource {
  model: ModelRow
  ids: readonly string[]
  rows: ReadMemory
}

/**
 * Reads trajectories as rows, in the order of the ids. @throws {HttpError} 404 for an unknown trajectory, 413 for
 * trajectories that are too large together
 */
export async function readTrajectoryRows(
  deps: TrajectorySourceDeps,
  { model, ids, rows }: TrajectorySource,
): Promise<string[]> {
  const written: string[] = []
  const yielder = new EventLoopYielder()
  for (const id of ids) {
    const trajectory = await findTrajectory(deps.training, model.id, id)
    if (!trajectory) throw notFound('Trajectory', id)
    rows.add(trajectory.payloadLength)
    const payload = await readPayload(deps.artifacts, trajectory)
    const isCaptured = trajectory.flags.includes('captured')
    const history = isCaptured ? await readFirstHistory(deps, { payload, model: nameModel(model) }) : payload
    written.push(writeRow(model, trajectory, history))
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

/** The first conversation of captured exchanges, in the form of a trajectory. */
async function readFirstHistory({ heavyThreads }: TrajectorySourceDeps, task: HistoriesTask): Promise<Buffer> {
  const histories = await writeHistories(heavyThreads, task)
  if (!histories) throw tooLarge()
  const [first = '{}'] = splitItems(Buffer.from(histories))
  return Buffer.from(first)
}

/** The conversation as messages, the tools that it could use, its reward, and what it is a copy of. */
function writeRow(model: ModelRow, trajectory: TrajectoryRow, history: Buffer): string {
  const items = findMember(history, 'messages_and_choices')
  const messages = items?.first === '[' ? Array.from(splitItems(items.bytes), messageOf) : []
  const tools = findMember(history, 'tools')
  return rawObject({
    messages: rawText(rawList(messages)),
    tools: tools?.first === '[' ? rawText(tools.toString()) : undefined,
    reward: trajectory.reward,
    metrics: trajectory.metrics,
    scenario_id: trajectory.scenarioId ?? undefined,
    step: trajectory.step ?? undefined,
    model: nameModel(model),
    trajectory: trajectory.id,
  })
}

/** A choice becomes its message. */
function messageOf(item: string): string {
  const message = item.startsWith('{') ? findMember(Buffer.from(item), 'message') : undefined
  return message?.first === '{' ? message.toString() : item
}
