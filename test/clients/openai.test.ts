import { randomUUID } from 'node:crypto'
import OpenAI, { AuthenticationError, NotFoundError, UnprocessableEntityError } from 'openai'
import { beforeAll, expect, test } from 'vitest'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: stack.apiKey, maxRetries: 0 })
const messages = [{ role: 'user' as const, content: 'Tell me about the sea.' }]
let model: string

beforeAll(async () => {
  const body = { name: `openai-${randomUUID()}`, project: 'openai-test', base_model: stack.baseModel }
  const made = await client.post<{ entity: string; name: string }>('/preview/models', { body })
  model = `wandb-artifact:///${made.entity}/openai-test/${made.name}`
})

test('a complete reply of a registered model has its name, log-probabilities and token ids', async () => {
  const reply = await client.chat.completions.create({ model, messages, max_completion_tokens: 8, n: 2 })
  expect(reply.model).toBe(model)
  expect(reply.choices).toHaveLength(2)
  for (const choice of reply.choices as (OpenAI.ChatCompletion.Choice & { token_ids: number[] })[]) {
    expect(choice.logprobs?.content?.length).toBe(choice.token_ids.length)
    expect(choice.token_ids.every(Number.isInteger)).toBe(true)
  }
  expect(reply.usage?.total_tokens).toBeGreaterThan(0)
})

test('an explicit logprobs false or null stays', async () => {
  for (const logprobs of [false, null]) {
    const reply = await client.chat.completions.create({ model, messages, max_completion_tokens: 4, logprobs })
    expect(reply.choices[0]?.logprobs ?? null).toBeNull()
  }
})

test('a stream has its name and exact token ids in its log-probabilities, and ends with usage', async () => {
  const stream = await client.chat.completions.create({
    model,
    messages,
    max_completion_tokens: 8,
    stream: true,
    stream_options: { include_usage: true },
  })
  const tokens: { token: string; bytes: number[] | null }[] = []
  let text = ''
  let usage: OpenAI.CompletionUsage | null | undefined
  for await (const chunk of stream) {
    expect(chunk.model).toBe(model)
    text += chunk.choices[0]?.delta.content ?? ''
    tokens.push(...(chunk.choices[0]?.logprobs?.content ?? []))
    usage = chunk.usage
  }
  expect(tokens.length).toBe(usage?.completion_tokens)
  for (const { token } of tokens) expect(token).toMatch(/^token_id:\d+$/)
  const bytes = tokens.flatMap((token) => token.bytes ?? [])
  expect(Buffer.from(bytes).toString()).toContain(text)
})

test('the base model and step 0 answer too', async () => {
  for (const name of [stack.baseModel, `${model}:step0`, model.replace('wandb-artifact:///', '')]) {
    const reply = await client.chat.completions.create({ model: name, messages, max_completion_tokens: 4 })
    expect(reply.model).toBe(name)
  }
})

test('models are listed', async () => {
  const ids: string[] = []
  for await (const item of client.models.list()) ids.push(item.id)
  expect(ids).toContain(stack.baseModel)
  expect(ids).toContain(model.replace('wandb-artifact:///', ''))
})

test('invalid input raises the error types of the SDK', async () => {
  const stranger = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: 'ty_nobody', maxRetries: 0 })
  await expect(stranger.chat.completions.create({ model, messages })).rejects.toBeInstanceOf(AuthenticationError)
  const unknown = client.chat.completions.create({ model: 'no/such/model', messages })
  await expect(unknown).rejects.toBeInstanceOf(NotFoundError)
  const broken = client.chat.completions.create({ model, messages: 'hello' as unknown as typeof messages })
  await expect(broken).rejects.toBeInstanceOf(UnprocessableEntityError)
})
