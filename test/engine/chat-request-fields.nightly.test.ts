import { describe, expect, test } from 'vitest'
import { useStack } from '../support/stack.ts'
import { ChatClient } from './chat-fields/ask.ts'
import { constraintRows } from './chat-fields/constraints.ts'
import { handlingRows } from './chat-fields/handling.ts'
import { requestFields } from './chat-fields/interface.ts'
import { lengthRows } from './chat-fields/lengths.ts'
import { logprobRows } from './chat-fields/logprobs.ts'
import { promptRows } from './chat-fields/prompts.ts'
import { samplingRows } from './chat-fields/sampling.ts'

const chat = new ChatClient(useStack())
const rows = { ...samplingRows, ...lengthRows, ...logprobRows, ...promptRows, ...constraintRows, ...handlingRows }

test('exactly the members of the interface have rows', () => {
  expect(Object.keys(rows).toSorted()).toEqual(requestFields.toSorted())
})

describe.concurrent('the member of a chat', () => {
  test.each(Object.entries(rows))('%s', async (_, check) => check(chat))
})

test("newer members of OpenAI's requests are accepted, and change nothing", async () => {
  const members = {
    store: true,
    metadata: { team: 'sea' },
    prompt_cache_key: 'key',
    prompt_cache_retention: '24h',
    service_tier: 'auto',
    verbosity: 'low',
    safety_identifier: 'someone',
  }
  expect(await chat.text(members)).toBe(await chat.text({}))
  const tiers = await chat.stream({ ...members, service_tier: 'flex' })
  expect(tiers.length).toBeGreaterThan(1)
})
