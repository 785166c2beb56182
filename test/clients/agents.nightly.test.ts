import { beforeAll, describe, expect, test } from 'vitest'
import { clientTimeoutMs, runNode, runPython } from '../support/client-scripts.ts'
import { isNewest } from '../support/newest-clients.ts'
import { createRest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { teachModel } from '../support/taught-model.ts'
import { agentConversations, loopsInTwoTurns } from './agents/conversations.ts'

const stack = useStack()
const rest = createRest(stack)
const env: NodeJS.ProcessEnv = {
  OPENAI_BASE_URL: `${stack.url}/v1`,
  OPENAI_API_KEY: stack.apiKey,
  // LiteLLM would read its prices from the internet.
  LITELLM_LOCAL_MODEL_COST_MAP: 'True',
}

// The agents end their loops only if the model has learned what to answer.
beforeAll(async () => {
  const model = await rest.createModel()
  env.MODEL = model.address
  await teachModel(rest, model, agentConversations())
})

const sunny = 'It is sunny.'
const city = { name: 'Rome', coastal: false }

describe.concurrent('a tool loop, complete and streamed, and errors', { timeout: clientTimeoutMs }, () => {
  const runAgent = (script: string) => runPython(stack, script, { packages: 'agents', env })
  const runAgentOnOpenai2 = (script: string) => runPython(stack, script, { packages: 'agents-openai-2', env })

  test('by pydantic-ai', async ({ expect: expectIt }) => {
    expectIt(await runAgent('pydantic_ai_agent')).toEqual({
      calls: [['garden'], ['garden']],
      texts: [sunny, sunny],
      used_tokens: true,
      city,
      error: 404,
    })
  })

  test("by LangChain's bind_tools and its agent", async ({ expect: expectIt }) => {
    expectIt(await runAgent('langchain_agent')).toEqual({
      calls: [['garden'], ['garden'], ['garden']],
      in_pieces: true,
      used_tokens: [true, true],
      texts: [sunny, sunny],
      kinds: ['human', 'ai', 'tool', 'ai'],
      cities: [city, city],
      error: 404,
    })
  })

  test('by openai-agents over chats', async ({ expect: expectIt }) => {
    expectIt(await runAgent('openai_agents_agent')).toEqual({
      calls: [['garden'], ['garden']],
      texts: [sunny, sunny],
      events: ['agent_updated_stream_event', 'raw_response_event', 'run_item_stream_event'],
      city,
      error: 404,
    })
  })

  test('by openai-agents over /v1/responses, its default', async ({ expect: expectIt }) => {
    expectIt(await runAgent('openai_agents_responses')).toEqual({
      calls: ['garden', 'garden', 'garden', 'garden'],
      texts: [sunny, sunny, sunny, sunny],
      streamed_call: { city: 'garden' },
      events: expectIt.arrayContaining(['response.created', 'response.output_text.delta', 'response.completed']),
      chained: [true, true],
      remembers: [true, true],
      city,
      errors: [expectIt.stringContaining('no/such/model'), expectIt.stringContaining('web_search')],
    })
  })

  test('by openai-agents in two turns, which the server or references join', async ({ expect: expectIt }) => {
    const items = ['tool_call_item', 'tool_call_output_item', 'message_output_item']
    const turn = { text: sunny, items, prompt_tokens: expectIt.any(Number) as number }
    const model = await rest.createModel()
    await teachModel(rest, model, loopsInTwoTurns())
    const ownEnv = { ...env, MODEL: model.address }
    const seen = await runPython(stack, 'openai_agents_turns', { packages: 'agents', env: ownEnv })
    expectIt(seen).toEqual({
      calls: ['garden', 'garden', 'garden'],
      turns: [turn, turn, turn],
      references: 2,
      chain: true,
    })
    const [first, chained, referring] = (seen as { turns: (typeof turn)[] }).turns.map((each) => each.prompt_tokens)
    expectIt(chained).toBeGreaterThan(first!)
    expectIt(referring).toBe(chained)
  })

  test('by Strands, which always streams', async ({ expect: expectIt }) => {
    expectIt(await runAgentOnOpenai2('strands_agent')).toEqual({
      calls: ['garden'],
      reason: 'end_turn',
      text: sunny,
      roles: ['user', 'assistant', 'user', 'assistant'],
      used_tokens: true,
      error: 404,
    })
  })

  test('by LiteLLM, which raises its own classes', async ({ expect: expectIt }) => {
    expectIt(await runAgentOnOpenai2('litellm_calls')).toEqual({
      calls: [['garden'], ['garden']],
      used_tokens: [true, true],
      text: sunny,
      errors: ['NotFoundError', 'AuthenticationError', 'BadRequestError', 'ContextWindowExceededError'],
    })
  })

  test('by Instructor, complete and partial', async ({ expect: expectIt }) => {
    const cities = [city, city, city, city]
    expectIt(await runAgentOnOpenai2('instructor_models')).toEqual({ cities, in_pieces: true, error: true })
  })
})

describe.concurrent('chats, streams, tools and errors', { timeout: clientTimeoutMs }, () => {
  const text = expect.stringMatching(/./) as unknown
  const call = '{"city": "garden"}'
  const seen = {
    plain: [text, 'stop'],
    stream: [text, '', 'stop'],
    call: ['get_weather', call],
    stream_of_call: ['', call, 'stop'],
    listed: true,
    errors: [
      ['AuthenticationError', 401, 'invalid_api_key'],
      ['NotFoundError', 404, 'model_not_found'],
      ['UnprocessableEntityError', 422, text],
      [text, expect.any(Number) as unknown, 'context_length_exceeded'],
    ],
  }

  const oldestAndNewest = [
    ['1.3.0', 'openai-python-1.3'],
    ['3.54.0', 'agents'],
  ]
  const between = [
    ['1.109.1', 'openai-python-1.109'],
    ['2.54.0', 'agents-openai-2'],
  ]

  test.each([...oldestAndNewest, ...between])('by the openai SDK of Python %s', async (version, packages) => {
    expect(await runPython(stack, 'chats', { packages, scripts: 'openai-python', env })).toEqual({
      version: isNewest() ? text : version,
      ...seen,
    })
  })

  test('by four generations of the openai SDK of npm', async ({ expect: expectIt }) => {
    const sdks = ['openai-4', 'openai-5', 'openai-6', 'openai']
    const expected = Object.fromEntries(sdks.map((sdk) => [sdk, seen]))
    expectIt(await runNode(stack, 'openai-npm/chats.mjs', { ...env }, sdks)).toEqual(expected)
  })
})
