import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

const stack = useStack()
const rest = createRest(stack)
const name = 'short-drain'
// Long enough for some tokens. Whether it is for all that the context takes depends on the machine.
const drainSeconds = '15'
const [some, all] = [100, 3_900]

describe('an engine with a short time for its responses', () => {
  beforeAll(async () => {
    const spec = {
      names: [name],
      source: { path: 'models/tiny-chat' },
      engine: {
        autoscaling: { min: 0, max: 1 },
        args: ['--dtype', 'float32'],
        env: [
          { name: 'VLLM_CPU_KVCACHE_SPACE', value: '1' },
          { name: 'TRAINYARD_DRAIN_SECONDS', value: drainSeconds },
        ],
      },
      trainer: { warm: { min: 0 } },
    }
    await stack.apply({
      apiVersion: 'trainyard.dev/v1alpha1',
      kind: 'BaseModel',
      metadata: { name, namespace: 'trainyard' },
      spec,
    })
  })
  afterAll(() => stack.kubectl('delete', `basemodels.trainyard.dev/${name}`, '-n', 'trainyard'))

  const chat = (maxTokens: number, more: object = {}) =>
    rest.send('POST', '/v1/chat/completions', {
      model: name,
      messages: [{ role: 'user', content: 'Tell me a story.' }],
      max_tokens: maxTokens,
      ignore_eos: true,
      ...more,
    })

  interface Reply {
    choices: { finish_reason: string | null }[]
    usage: { completion_tokens: number }
  }

  /** How a chat ended: with all its tokens, or with an error. A reply that was cut short is neither. */
  type End = 'whole' | 'error' | { cutShort: unknown }

  async function endOfPlain(maxTokens: number): Promise<End> {
    const response = await chat(maxTokens)
    if (!response.ok) return 'error'
    const reply = (await response.json()) as Reply
    return reply.usage.completion_tokens === maxTokens ? 'whole' : { cutShort: reply }
  }

  /** @param begun is called with its first bytes */
  async function endOfStream(maxTokens: number, begun: () => void): Promise<End> {
    const response = await chat(maxTokens, { stream: true, stream_options: { include_usage: true } })
    let text = ''
    for await (const bytes of response.body!) {
      text += Buffer.from(bytes).toString()
      begun()
    }
    const events = text.split('\n\n').filter((event) => event.startsWith('data: {'))
    const last = JSON.parse(events.at(-1)!.slice('data: '.length)) as Reply & { error?: object }
    if (last.error) return 'error'
    return text.includes('[DONE]') && last.usage.completion_tokens === maxTokens ? 'whole' : { cutShort: last }
  }

  test('an engine at zero is started by a chat; when it is stopped, its chats end whole or with an error', async () => {
    expect((await chat(2)).status).toBe(200)

    const streams = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
    const ends = {
      plainOfSome: endOfPlain(some),
      streamOfSome: endOfStream(some, streams[0].resolve),
      plainOfAll: endOfPlain(all),
      streamOfAll: endOfStream(all, streams[1].resolve),
    }
    await Promise.all(streams.map(({ promise }) => promise))
    const labels = `trainyard.dev/component=engine,trainyard.dev/base-model=${name}`
    await stack.kubectl('delete', 'pods', '-n', 'trainyard', '-l', labels, '--wait=false')
    const deletedAtMs = performance.now()
    expect(await ends.plainOfSome).toBe('whole')
    expect(await ends.streamOfSome).toBe('whole')
    expect(['whole', 'error']).toContain(await ends.streamOfAll)
    // When the engine is dead, its responses do not wait until the pod is killed after 330 s.
    expect(performance.now() - deletedAtMs).toBeLessThan(120_000)
    // The engine that is started in its place may be asked again.
    expect(['whole', 'error']).toContain(await ends.plainOfAll)
  })
})
