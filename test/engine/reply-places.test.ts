import { beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'

// The gateway searches replies for the model's name and the usage in the form that the engine writes. If it does not
// find the name, it parses the reply and writes it again, with the name as its last member.

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
    'with all members that follow the usage',
    { prompt_logprobs: 1, return_token_ids: true, logprobs: true, top_logprobs: 5 },
  ],
  ['with several choices', { n: 3 }],
])('a complete reply %s has the name and the usage where the gateway searches them', async (_, more) => {
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
])('each event of a stream %s has the name where the gateway searches it', async (_, more) => {
  const text = await (await chat({ stream: true, ...more })).text()
  const events = text.split('\n\n').filter((event) => event.startsWith('data: {'))
  expect(events.length).toBeGreaterThan(2)
  expect(events.filter((event) => !namedFirst(event))).toEqual([])
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
})
