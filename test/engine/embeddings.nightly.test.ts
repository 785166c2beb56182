import { randomUUID } from 'node:crypto'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const name = `embedding-${randomUUID().slice(0, 8)}`
const model = `${name}/tiny-chat`
const client = new OpenAI({ baseURL: `${stack.url}/v1`, apiKey: stack.apiKey, maxRetries: 0 })
const sea = 'Tell me about the sea.'

// A separate engine takes as long to start as the whole stack.
describe('an engine for embeddings', () => {
  beforeAll(async () => {
    const text = await stack.kubectl('get', 'basemodels.trainyard.dev/tiny-chat', '-n', 'trainyard', '-o', 'json')
    const { spec } = JSON.parse(text) as { spec: { source: object; engine: { args?: string[] } } }
    const { args = [], ...engine } = spec.engine
    await stack.apply({
      apiVersion: 'trainyard.dev/v1alpha1',
      kind: 'BaseModel',
      metadata: { name, namespace: 'trainyard' },
      spec: {
        names: [model],
        source: spec.source,
        engine: { ...engine, args: [...args, '--runner', 'pooling'] },
        trainer: { warm: { min: 0 } },
      },
    })
    await eventually(() => embed(sea), 540_000, 1_000)
  })
  afterAll(async () => {
    await stack.kubectl('delete', `basemodels.trainyard.dev/${name}`, '-n', 'trainyard')
  })

  // The SDK requests base64, and converts it to numbers.
  const embed = (input: string | string[] | number[] | number[][], more: object = {}) =>
    client.embeddings.create({ model, input, ...more })
  const vectors = async (...given: Parameters<typeof embed>) => (await embed(...given)).data.map(round)
  const round = ({ embedding }: { embedding: number[] }) => embedding.map((value) => Number(value.toFixed(4)))

  test('returns a vector for each input, which is a text or token ids', async () => {
    const { data, usage, ...reply } = await embed([sea, 'Name a colour.', sea])
    expect(reply).toMatchObject({ object: 'list', model })
    expect(data.map(({ index }) => index)).toEqual([0, 1, 2])
    expect(usage.prompt_tokens).toBeGreaterThan(6)
    const [first, other, again] = data.map(round)
    expect(first).toHaveLength(128)
    expect(again).toEqual(first)
    expect(other).not.toEqual(first)
    const { tokens } = await client.post<{ tokens: number[] }>('/tokenize', { body: { model, prompt: sea } })
    expect(await vectors([tokens, tokens])).toEqual([first, first])
  })

  test('returns vectors as numbers or base64', async () => {
    expect(await vectors(sea, { encoding_format: 'float' })).toEqual(await vectors(sea))
  })

  test('returns a vector for a chat', async () => {
    const body = { model, messages: [{ role: 'user', content: sea }] }
    const { data } = await client.post<OpenAI.CreateEmbeddingResponse>('/embeddings', { body })
    expect(data[0]?.embedding).toHaveLength(128)
  })

  test('rejects inputs beyond its context, and chat completions', async () => {
    const long = { status: 400, code: 'context_length_exceeded' }
    await expect(embed('sea '.repeat(10_000))).rejects.toMatchObject(long)
    const chat = client.chat.completions.create({ model, messages: [{ role: 'user', content: sea }] })
    await expect(chat).rejects.toMatchObject({ status: 400, code: 'unsupported_operation' })
  })
})
