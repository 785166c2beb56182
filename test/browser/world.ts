import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import { claimJob } from '../../db/jobs/claims.ts'
import { failJob } from '../../db/jobs/endings.ts'
import { queueJob } from '../../db/jobs/enqueue.ts'
import { recordCheckpoint, recordEvents } from '../../db/jobs/reports.ts'
import { recordTokenStatistics } from '../../db/jobs/token-statistics.ts'
import type { Attempt } from '../../db/jobs/attempts.ts'
import { numberOutbox } from '../../db/webhooks/outbox.ts'
import type { Pool } from '../../db/pool.ts'
import { repeat } from '../../lib/repeat.ts'
import { addKey, useApiServer, type OwnApi } from '../support/api-server.ts'
import { finishJob } from '../support/leases.ts'
import { ModelRows } from '../support/model-rows.ts'
import { createRest, type Rest } from '../support/rest.ts'
import type { ApiStack } from '../support/services.ts'

/** A server with the console, and an entity whose data clients and a trainer have written. */
export interface World extends OwnApi {
  entity: string
  key: string
  rest: Rest
}

/** Starts a server with a database of its own. No operator changes its jobs; its changes are numbered here. */
export function useWorld(stack: ApiStack, entity = `team-${randomUUID().slice(0, 8)}`): World {
  const own = useApiServer()
  const world = Object.assign(own, { entity }) as World
  const ending = new AbortController()
  let numbering: Promise<void>
  beforeAll(async () => {
    const { pool } = own.database
    world.key = await addKey(pool, entity, 'admin')
    await pool.query(
      `INSERT INTO training.base_models (name, names, namespace, cr_name)
       VALUES ($1, ARRAY[$1], 'trainyard', 'tiny-chat')`,
      [stack.baseModel],
    )
    world.rest = createRest({ ...stack, url: own.server.url }, world.key)
    numbering = repeat(() => numberOutbox(pool), { pauseMs: 20, signal: ending.signal, onError: () => {} })
  })
  afterAll(async () => {
    ending.abort()
    await numbering
  })
  return world
}

/** What a client samples, and how it rates it. */
export interface Rollout {
  prompt: string
  answer: string
  reward: number
  scenario?: string
  more?: object
}

/** A trajectory as ART sends it. */
export function makeTrajectory({ prompt, answer, reward, scenario, more = {} }: Rollout) {
  const tokens = answer.split(/(?= )/)
  const content = tokens.map((token, index) => ({
    token,
    logprob: -(((index * 7 + answer.length) % 13) + 1) / 10,
    bytes: [...Buffer.from(token)],
    top_logprobs: [],
  }))
  return {
    messages_and_choices: [
      { role: 'system', content: 'You answer in one short sentence.' },
      { role: 'user', content: prompt },
      {
        finish_reason: 'stop',
        index: 0,
        message: { role: 'assistant', content: answer },
        logprobs: { content },
        token_ids: tokens.map((_, index) => index + 5),
      },
    ],
    reward,
    metrics: { length: tokens.length },
    metadata: scenario === undefined ? {} : { scenario_id: scenario },
    ...more,
  }
}

/** Puts rollouts of the same prompt into groups, as ART does. */
export function makeGroups(rollouts: readonly Rollout[]) {
  const byPrompt = Map.groupBy(rollouts, ({ prompt }) => prompt)
  return [...byPrompt.values()].map((own) => ({ trajectories: own.map((rollout) => makeTrajectory(rollout)) }))
}

/** A job that a trainer holds. */
export interface HeldJob {
  id: string
  attempt: Attempt
  step: (data: Record<string, number>) => Promise<void>
  finish: (metrics: Record<string, number>) => Promise<void>
  fail: (message: string) => Promise<void>
}

/** A run whose jobs are trained by the test, with what a trainer reports. */
export class TestRun {
  readonly id: string
  readonly name: string
  readonly #world: World
  readonly #pool: Pool
  readonly #stack: ApiStack

  constructor(world: World, stack: ApiStack, { id, name }: { id: string; name: string }) {
    this.#world = world
    this.#pool = world.database.pool
    this.#stack = stack
    this.id = id
    this.name = name
  }

  /** Sends a job, which waits in its queue. */
  queue(rollouts: readonly Rollout[], config?: object): Promise<string> {
    return this.queueGroups(makeGroups(rollouts), config)
  }

  async queueGroups(groups: object[], config: object = { learning_rate: 0.003 }): Promise<string> {
    const body = { model_id: this.id, trajectory_groups: groups, experimental_config: config }
    const { id } = await this.#world.rest.call<{ id: string }>('POST', '/v1/preview/training-jobs', body)
    await queueJob(this.#pool, id)
    return id
  }

  /** Claims the oldest job that can run, as a trainer does, and begins it. */
  async claim(total: number): Promise<HeldJob> {
    const pool = this.#pool
    const podUid = randomUUID()
    const trainer = { baseModel: this.#stack.baseModel, podUid, processId: randomUUID(), gpus: 0, holding: [] }
    const claim = await claimJob(pool, trainer)
    if (!claim) throw new Error('nothing to claim')
    const attempt = { jobId: claim.id, attempt: claim.attempt, podUid }
    await recordEvents(pool, attempt, [{ seq: 0, type: 'training_started', data: { num_sequences: total } }])
    let seq = 0
    return {
      id: claim.id,
      attempt,
      step: async (data) => {
        await recordEvents(pool, attempt, [{ seq: ++seq, type: 'gradient_step', data }])
      },
      finish: async (metrics) => {
        const digest = await new ModelRows(pool, this.#stack.artifacts).writeFiles(claim.checkpointId)
        await recordCheckpoint(pool, attempt, { uri: `artifact:///checkpoints/${claim.checkpointId}`, digest, metrics })
        await finishJob(pool, claim.id)
      },
      fail: async (message) => {
        await failJob(pool, claim.id, { category: 'User', reason: 'BadInput', message, retryable: false })
      },
    }
  }

  /** Sends a job and trains it to its end. The pushes are those of its trajectories. */
  async train(rollouts: readonly Rollout[], numbers: Record<string, number>): Promise<string> {
    await this.queue(rollouts)
    const job = await this.claim(2)
    for (const part of [1, 2]) await job.step({ ...numbers, loss: numbers['loss']! * part })
    await job.finish(numbers)
    await recordTokenStatistics(this.#pool, job.attempt, { file: null, pushes: listPushes(rollouts) })
    return job.id
  }

  /** Logs trajectories as `model.log` of ART does. */
  async log(split: string, rollouts: readonly Rollout[]): Promise<void> {
    const body = { split, trajectory_groups: makeGroups(rollouts) }
    await this.#world.rest.call('POST', `/v1/preview/models/${this.id}/log`, body)
  }
}

function listPushes(rollouts: readonly Rollout[]): Record<string, number> {
  const byPrompt = Map.groupBy(rollouts, ({ prompt }) => prompt)
  return Object.fromEntries(
    [...byPrompt.values()].flatMap((own, group) =>
      own.map(({ reward }, index) => [`${group}/${index}`, (reward - 0.5) * 1e-3]),
    ),
  )
}

/** Creates a run. */
export async function createRun(world: World, stack: ApiStack, project: string, name: string): Promise<TestRun> {
  const body = { project, name, base_model: stack.baseModel }
  const { id } = await world.rest.call<{ id: string }>('POST', '/v1/preview/models', body)
  return new TestRun(world, stack, { id, name })
}
