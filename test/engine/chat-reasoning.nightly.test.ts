import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useStack } from '../support/stack.ts'
import { ChatClient } from './chat-fields/ask.ts'

const stack = useStack()
const name = `thinking-${randomUUID().slice(0, 8)}`
const baseModel = `${name}/tiny-chat`
const chat = new ChatClient({ ...stack, baseModel })

interface Reasoning {
  content?: string | null
  reasoning?: string | null
  reasoning_content?: string | null
}

// A separate engine takes as long to start as the whole stack.
describe('the reasoning of a model', () => {
  beforeAll(async () => {
    const text = await stack.kubectl('get', 'basemodels.trainyard.dev/tiny-chat', '-n', 'trainyard', '-o', 'json')
    const { spec } = JSON.parse(text) as { spec: { source: object; engine: object } }
    // This parser treats everything as reasoning until the model ends it.
    const engine = { ...spec.engine, reasoningParser: 'qwen3' }
    await stack.apply({
      apiVersion: 'trainyard.dev/v1alpha1',
      kind: 'BaseModel',
      metadata: { name, namespace: 'trainyard' },
      spec: { names: [baseModel], source: spec.source, engine, trainer: { warm: { min: 0 } } },
    })
    await eventually(() => chat.reply({}), 540_000, 1_000)
  })
  afterAll(async () => {
    await stack.kubectl('delete', `basemodels.trainyard.dev/${name}`, '-n', 'trainyard')
  })

  test('has both names in a complete reply', async () => {
    const message: Reasoning = (await chat.choose({})).message
    expect(message.reasoning).toMatch(/\w/)
    expect(message.reasoning_content).toBe(message.reasoning)
    expect(message.content ?? '').toBe('')
  })

  test('has both names in each event of a stream', async () => {
    const { message } = await chat.choose({})
    const events = await chat.stream({})
    const pieces: Reasoning[] = events.flatMap(({ choices }) => choices.map(({ delta }) => delta))
    for (const piece of pieces) expect(piece.reasoning_content).toBe(piece.reasoning)
    const { reasoning }: Reasoning = message
    expect(pieces.map((piece) => piece.reasoning ?? '').join('')).toBe(reasoning)
  })

  test('is left out if the client does not request it', async () => {
    const message: Reasoning = (await chat.choose({ include_reasoning: false })).message
    expect([message.reasoning, message.reasoning_content]).toEqual([null, null])
  })
})
