import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { useApiServer } from '../support/api-server.ts'
import { Exporter, json } from '../support/exporter.ts'
import { createTraceClient, type TraceClient } from '../support/trace-client.ts'

const own = useApiServer({ LOG_LEVEL: 'error' })
const exporter = new Exporter(own)
let client: TraceClient
beforeAll(async () => {
  client = createTraceClient(own.server.url, await exporter.key())
})

interface Call {
  id: string
  op_name: string
  thread_id: string | null
  turn_id: string | null
  attributes: { kind?: string; model?: string; provider?: string; system?: string }
  inputs: unknown
  output: unknown
  summary: { usage?: Record<string, { total_tokens: number }> }
}

const folder = path.join(import.meta.dirname, '..', 'recorded-spans', 'recordings')

/** Sends a recording to a project of its name, and reads its calls. */
async function replay(name: string): Promise<Call[]> {
  const body = await readFile(path.join(folder, `${name}.json`), 'utf8')
  const headers = { project_id: `team/${name}` }
  expect(await exporter.ask({ type: json, body, headers })).toEqual({ status: 200, body: {} })
  return client.call<Call[]>('/calls/stream_query', { project_id: `team/${name}` })
}

const listThreads = (name: string) =>
  client.call<{ thread_id: string; turn_count: number }[]>('/threads/stream_query', { project_id: `team/${name}` })

const of = (calls: Call[], name: string) => calls.filter(({ op_name: opName }) => opName === name)
const withoutUsage = (calls: Call[]) =>
  [...new Set(calls.filter(({ summary }) => !summary.usage).map(({ op_name: opName }) => opName))].toSorted()
const tokens = (calls: Call[]) =>
  calls.map(({ summary }) => Object.entries(summary.usage ?? {}).map(([model, usage]) => [model, usage.total_tokens]))

const question = 'How warm is it in Oslo?'
const sentence = 'It is 7 degrees in Oslo.'
const part = (content: string) => ({ type: 'text', content })

test('pydantic-ai with logfire', async () => {
  const calls = await replay('pydantic-ai')
  const chats = of(calls, 'chat tiny-chat')
  const user = { role: 'user', parts: [part(question)] }
  expect(chats.map(({ inputs }) => inputs)).toMatchObject([
    { 'gen_ai.system_instructions': [part('Be brief.')], 'gen_ai.input.messages': [user] },
    ...Array.from({ length: 3 }, () => ({ 'gen_ai.input.messages': expect.arrayContaining([user]) as unknown })),
  ])
  const answered = { 'gen_ai.output.messages': [{ role: 'assistant', parts: [part(sentence)], finish_reason: 'stop' }] }
  expect([chats[1]!.output, chats[3]!.output]).toEqual([answered, answered])
  expect(chats[0]!.attributes).toMatchObject({ kind: 'chat', model: 'tiny-chat', provider: 'openai', system: 'openai' })
  const tools = of(calls, 'execute_tool get_weather')
  expect(tools.map(({ inputs, output }) => [inputs, output])).toEqual([
    [{ city: 'Oslo' }, '7 degrees in Oslo'],
    [{ city: 'Oslo' }, '7 degrees in Oslo'],
  ])
  const agents = of(calls, 'invoke_agent forecaster')
  expect(agents).toMatchObject([
    { output: sentence, attributes: { kind: 'invoke_agent' } },
    { output: sentence, inputs: { 'gen_ai.system_instructions': [part('Be brief.')] } },
  ])
  expect((agents[1]!.inputs as Record<string, unknown[]>)['pydantic_ai.all_messages']).toHaveLength(8)
  expect(tokens(chats)).toEqual(Array.from({ length: 4 }, () => [['tiny-chat', 30]]))
  expect(withoutUsage(calls)).toEqual(['execute_tool get_weather', 'invoke_agent forecaster'])
  const [conversation] = new Set(calls.map(({ thread_id: id }) => id))
  expect(await listThreads('pydantic-ai')).toMatchObject([{ thread_id: conversation, turn_count: 2 }])
})

test('OpenLLMetry', async () => {
  const calls = await replay('openllmetry')
  const parts = [{ type: 'tool_call', name: 'get_weather', id: 'call_2', arguments: { city: 'Oslo' } }]
  expect(calls).toMatchObject([
    {
      op_name: 'openai.chat',
      attributes: { kind: 'chat', provider: 'openai', model: 'tiny-chat', model_parameters: { temperature: 0.5 } },
      inputs: {
        'gen_ai.input.messages': [
          { role: 'system', parts: [part('Be brief.')] },
          { role: 'user', parts: [part(question)] },
        ],
      },
      output: { 'gen_ai.output.messages': [{ role: 'assistant', parts, finish_reason: 'tool_call' }] },
    },
    { output: { 'gen_ai.output.messages': [{ role: 'assistant', parts: [part(sentence)] }] } },
    {
      inputs: { 'gen_ai.input.messages': [{ role: 'user', parts: [part('And now?')] }] },
      output: { 'gen_ai.output.messages': [{ role: 'assistant', parts: [part(`${sentence} `)] }] },
    },
  ])
  expect(tokens(calls)).toEqual(calls.map(() => [['tiny-chat', 30]]))
})

test('OpenInference', async () => {
  const calls = await replay('openinference')
  const answered = (content: string) => ({
    attributes: { kind: 'LLM', system: 'openai', model: 'tiny-chat' },
    output: { 'output.value': { choices: [{ message: { role: 'assistant', content } }] } },
    thread_id: 'session-1',
  })
  const tool_calls = [{ id: 'call_2', function: { name: 'get_weather', arguments: '{"city": "Oslo"}' } }]
  expect(calls).toMatchObject([
    {
      inputs: { 'input.value': { messages: [{ content: 'Be brief.' }, { content: question }] } },
      output: { 'output.value': { choices: [{ message: { tool_calls } }] } },
    },
    answered(sentence),
    answered(`${sentence} `),
  ])
  expect(tokens(calls)).toEqual(calls.map(() => [['tiny-chat', 30]]))
  expect(await listThreads('openinference')).toMatchObject([{ thread_id: 'session-1', turn_count: 3 }])
})

test('OpenAI Agents', async () => {
  const calls = await replay('openai-agents')
  expect(of(calls, 'generation')).toMatchObject([
    {
      attributes: { kind: 'LLM', model: 'tiny-chat' },
      inputs: { 'input.value': [{ content: 'Be brief.' }, { content: question }] },
      output: { 'output.value': [{ tool_calls: [{ function: { name: 'get_weather' } }] }] },
    },
    { output: { 'output.value': [{ role: 'assistant', content: sentence }] } },
  ])
  expect(of(calls, 'get_weather')).toMatchObject([
    { inputs: { 'input.value': { city: 'Oslo' } }, output: { 'output.value': '7 degrees in Oslo' } },
  ])
  expect(tokens(of(calls, 'generation'))).toEqual([[['tiny-chat', 30]], [['tiny-chat', 30]]])
  expect(withoutUsage(calls)).toEqual(['Agent workflow', 'forecaster', 'get_weather', 'turn', 'weather'])
})

test('Strands', async () => {
  const calls = await replay('strands')
  const asked = [
    { role: 'system', content: [{ text: 'Be brief.' }] },
    { role: 'user', content: [{ text: question }] },
  ]
  const toolUse = { toolUseId: 'call_2', name: 'get_weather', input: { city: 'Oslo' } }
  expect(of(calls, 'chat').slice(0, 2)).toMatchObject([
    {
      attributes: { kind: 'chat', system: 'strands-agents', model_parameters: { model: 'tiny-chat' } },
      inputs: { messages: asked },
      output: { choices: [{ finish_reason: 'tool_use', message: [{ toolUse }] }] },
    },
    {
      inputs: { messages: [...asked, { role: 'assistant' }, { role: 'tool' }] },
      output: { choices: [{ finish_reason: 'end_turn', message: [{ text: `${sentence} ` }] }] },
    },
  ])
  expect(of(calls, 'execute_tool get_weather')[0]).toMatchObject({
    inputs: { messages: [{ role: 'tool', content: { city: 'Oslo' }, id: 'call_2' }] },
    output: { choices: [{ message: [{ text: '7 degrees in Oslo' }] }] },
  })
  expect(of(calls, 'invoke_agent Strands Agents')).toMatchObject([
    { inputs: { messages: asked }, output: { choices: [{ message: `${sentence} \n` }] } },
    { inputs: { messages: [asked[0], { role: 'user', content: [{ text: 'And now?' }] }] } },
  ])
  expect(withoutUsage(calls)).toEqual(['execute_event_loop_cycle', 'execute_tool get_weather'])
  expect(await listThreads('strands')).toMatchObject([{ thread_id: 'session-1', turn_count: 2 }])
})

test('the Vercel AI SDK', async () => {
  const calls = await replay('vercel-ai-sdk')
  expect(of(calls, 'ai.generateText')).toMatchObject([
    {
      attributes: { model: 'tiny-chat', provider: 'local.chat' },
      inputs: { 'ai.prompt': { system: 'Be brief.', prompt: question } },
      output: { 'ai.response': { text: sentence } },
    },
  ])
  const toolCalls = [{ toolCallId: 'call_2', toolName: 'get_weather', input: '{"city": "Oslo"}' }]
  expect(of(calls, 'ai.generateText.doGenerate')).toMatchObject([
    {
      inputs: { 'ai.prompt': { messages: [{ content: 'Be brief.' }, { content: [{ text: question }] }] } },
      output: { 'ai.response': { toolCalls } },
    },
    { output: { 'ai.response': { text: sentence } } },
  ])
  expect(of(calls, 'ai.toolCall')).toMatchObject([{ inputs: { city: 'Oslo' }, output: '7 degrees in Oslo' }])
  expect(of(calls, 'ai.streamText.doStream')).toMatchObject([{ output: { 'ai.response': { text: `${sentence} ` } } }])
  expect(tokens(of(calls, 'ai.generateText'))).toEqual([[['tiny-chat', 60]]])
  expect(tokens(of(calls, 'ai.streamText.doStream'))).toEqual([[['tiny-chat', 30]]])
  expect(withoutUsage(calls)).toEqual(['ai.toolCall'])
  expect(await listThreads('vercel-ai-sdk')).toMatchObject([{ thread_id: 'session-1', turn_count: 2 }])
})
