import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import type { Rest } from './rest.ts'

/** A row of a data set for SFT. */
export interface Conversation {
  messages: object[]
  tools?: object[]
}

const batchSize = 4
const firstRate = 8e-3

/** Trains a model's next step on these conversations, each of them this many times, until it repeats them. */
export async function teachModel(
  rest: Rest,
  model: { id: string; entity: string },
  conversations: Conversation[],
  repetitions = 20,
): Promise<void> {
  const rows = Array.from({ length: repetitions }, () => conversations).flat()
  const path = `/v1/preview/artifacts/${model.entity}/tests/sft-${randomUUID()}`
  const { address } = await rest.upload<{ address: string }>(
    path,
    rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
  )
  const steps = Math.ceil(rows.length / batchSize)
  const { id } = await rest.call<{ id: string }>('POST', '/v1/preview/sft-training-jobs', {
    model_id: model.id,
    training_data_url: address,
    config: { batch_size: batchSize, learning_rate: listFallingRates(firstRate, steps) },
  })
  expect((await rest.waitForEnd(id)).at(-1)?.type).toBe('training_ended')
}

/** As from a client that computes its own schedule. */
function listFallingRates(first: number, steps: number): number[] {
  return Array.from({ length: steps }, (_, index) => first * (1 - index / steps))
}
