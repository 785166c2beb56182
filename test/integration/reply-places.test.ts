import { beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

// The gateway searches replies for the model's name and the usage as the engine writes them. A reply in which it does not
// find the name is parsed and written anew: the name is its last member then.

const stack = useStack()
const rest = createRest(stack)
const messages = [{ role: 'user', content: 'Say "model" and {"usage":{}}.' }]
let address: string

beforeAll(async () => {
  address = (await rest.createModel()).address
})

const chat = async (more: object) => {
  const body = { model: address, messages, max_tokens: 12, ignore_eos: true, ...more }
  return rest.send('POST', '/v1/chat/completions', body)
}
const namedFirst = (text: string) => {
  const at = text.indexOf(`"model":${JSON.stringify(address)}`)
  return at > 0 && at < text.indexOf('"choices":')
}
const countTokens = async () => {
  const path = '/v1/preview/usage'
  const { data } = await rest.call<{ data: { prompt_tokens: number; completion_tokens: number }[] }>('GET', path)
  return data.reduce((sum, { prompt_tokens, completion_tokens }) => sum + prompt_tokens + completion_tokens, 0)
}

test.each([
  ['plain', {}],
  [
    'with all that comes behind the usage',
    { prompt_logprobs: 1, return_token_ids: true, logprobs: true, top_logprobs: 5 },
  ],
  ['of several choices', { n: 3 }],
])('a complete reply %s has name and usage where the gateway looks', async (_, more) => {
  const before = await countTokens()
  const response = await chat(more)
  const text = await response.text()
  expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(text)))
  expect(namedFirst(text)).toBe(true)
  const { usage } = JSON.parse(text) as { usage: { total_tokens: number } }
  await eventually(async () => {
    const after = await countTokens()
    expect(after - before).toBeGreaterThanOrEqual(usage.total_tokens)
  })
})

test.each([
  ['plain', {}],
  [
    'with logprobs and usage in each event',
    { logprobs: true, stream_options: { include_usage: true, continuous_usage_stats: true } },
  ],
])('each event of a stream %s has the name where the gateway looks', async (_, more) => {
  const text = await (await chat({ stream: true, ...more })).text()
  const events = text.split('\n\n').filter((event) => event.startsWith('data: {'))
  expect(events.length).toBeGreaterThan(2)
  expect(events.filter((event) => !namedFirst(event))).toEqual([])
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
})
