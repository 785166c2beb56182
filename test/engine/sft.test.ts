import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prompts } from '../../local/demo/rewards.ts'
import { eventually } from '../support/eventually.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const batchSize = 4
const repetitions = 20
const batches = (prompts.length * repetitions) / batchSize
// Falling learning rates, as from a client that computes its own schedule.
const rates = Array.from({ length: batches }, (_, index) => 8e-3 * (1 - index / batches))

let server: Server
let origin: string
const served = new Map<string, string>()

beforeAll(async () => {
  server = createServer(({ url = '' }, response) => response.end(served.get(url)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => new Promise((resolve) => server.close(resolve)))

/** Conversations that all give the same answer. One of them has two turns. */
function writeConversations(answer: string): string {
  const ask = (prompt: string) => [
    { role: 'user', content: prompt },
    { role: 'assistant', content: answer },
  ]
  const rows = Array.from({ length: repetitions }, () => prompts.map((prompt) => ({ messages: ask(prompt) }))).flat()
  rows[0]!.messages.push(...ask(prompts[1]!))
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

const answerTo = async (address: string, prompt: string) => {
  const [choice] = await rest.sample(address, prompt, { temperature: 0, max_completion_tokens: 12 })
  return choice?.message.content.trim()
}

const expectTaught = async (address: string, answer: string) => {
  const untaught = await Promise.all(prompts.map((prompt) => answerTo(`${address}:step0`, prompt)))
  expect(untaught.every((given) => given === answer)).toBe(false)
  const answers = await Promise.all(prompts.map((prompt) => answerTo(address, prompt)))
  expect(answers).toEqual(prompts.map(() => answer))
}

test('a model that was trained on the address of an uploaded data set gives the answers of its data', async () => {
  const model = await rest.createModel()
  const answer = 'It is purple.'
  const path = `/v1/preview/artifacts/${model.entity}/tests/sft-${randomUUID()}`
  const { address } = await rest.upload<{ address: string }>(path, writeConversations(answer))

  const { id } = await rest.call<{ id: string }>('POST', '/v1/preview/sft-training-jobs', {
    model_id: model.id,
    training_data_url: address,
    config: { batch_size: batchSize, learning_rate: rates },
  })
  const events = await rest.waitForEnd(id)
  const steps = events.filter(({ type }) => type === 'gradient_step')
  expect(events[0]).toMatchObject({ type: 'training_started', data: { num_sequences: batches } })
  expect(steps.map(({ data }) => data['learning_rate'])).toEqual(rates)
  expect(Number(steps.at(-1)?.data['loss'])).toBeLessThan(Number(steps[0]?.data['loss']))
  expect(events.at(-1)?.type).toBe('training_ended')
  expect((await rest.listCheckpoints(model.id)).map(({ step }) => step)).toEqual([1])
  await expectTaught(model.address, answer)
})

test('a model that was trained on data from another server gives the answers of its data', async () => {
  const model = await rest.createModel()
  const answer = 'Maybe orange.'
  served.set('/train.jsonl', writeConversations(answer))
  const name = `sft-${randomUUID().slice(0, 8)}`
  const modelName = await stack.kubectl('get', 'tym', '-l', `trainyard.dev/id=${model.id}`, '-o', 'name')
  await stack.apply({
    apiVersion: 'trainyard.dev/v1alpha1',
    kind: 'TrainingJob',
    metadata: { name },
    spec: {
      modelRef: { name: modelName.trim().split('/').at(-1) },
      method: 'SFT',
      inputRef: { uri: `${origin}/train.jsonl` },
      config: { batchSize, learningRates: rates },
    },
  })
  await eventually(async () => {
    const phase = await stack.kubectl('get', 'tj', name, '-o', 'jsonpath={.status.phase}')
    expect(phase).toBe('Succeeded')
  })
  await expectTaught(model.address, answer)
})
