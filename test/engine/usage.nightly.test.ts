import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey } from '../support/api-server.ts'
import { eventually } from '../support/eventually.ts'
import { createRest, sampleGroup, type Rest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { post } from '../support/post.ts'

const stack = useStack()
let pool: Pool
let entity: string
let key: string
let rest: Rest

beforeAll(() => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
})
beforeEach(async () => {
  entity = `team-${randomUUID()}`
  key = await addKey(pool, entity)
  rest = createRest(stack, key)
})
afterAll(() => pool.end())

interface Tokens {
  prompt_tokens: number
  completion_tokens: number
}
interface Chunk {
  choices: { delta: { content?: string } }[]
  usage?: Tokens | null
}

async function chat(more: object, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Response> {
  const messages = [{ role: 'user', content: 'Name a colour.' }]
  const body = { model: stack.baseModel, messages, max_tokens: 8, temperature: 0, ...more }
  const response = await post(`${stack.url}/v1/chat/completions`, key, body, { headers, signal })
  expect(response.status).toBe(200)
  return response
}

const readChunks = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Chunk)

// The number of chunks of a stream varies with the engine's timing.
const readText = (text: string) =>
  readChunks(text)
    .flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? ''))
    .join('')

const readUsage = async (query = '') =>
  (await rest.call<{ data: (Tokens & Record<string, unknown>)[] }>('GET', `/v1/preview/usage?${query}`)).data
const expectUsage = (query: string, usage: unknown) =>
  eventually(async () => expect(await readUsage(query)).toMatchObject(usage as object))

describe('a chat', () => {
  test('is charged for the usage of its reply', async () => {
    const { usage } = (await (await chat({ n: 3, temperature: 1 })).json()) as { usage: Tokens }
    expect(usage.completion_tokens).toBeGreaterThan(3)
    const { prompt_tokens, completion_tokens } = usage
    await expectUsage('group_by=model', [
      { model: stack.baseModel, model_id: null, requests: 1, prompt_tokens, completion_tokens },
    ])
  })

  test('that is streamed is charged the same, and its client gets usage only on request', async () => {
    const { usage } = (await (await chat({})).json()) as { usage: Tokens }
    const plain = await (await chat({ stream: true })).text()
    const declined = await (await chat({ stream: true, stream_options: { include_usage: false } })).text()
    const asked = await (await chat({ stream: true, stream_options: { include_usage: true } })).text()

    for (const text of [plain, declined]) {
      expect(text).not.toContain('usage')
      expect(text).toMatch(/^data: \{[^]*\}\n\ndata: \[DONE\]\n\n$/)
      expect(text).not.toContain('\n\n\n')
      expect(readChunks(text).every(({ choices }) => choices.length > 0)).toBe(true)
    }
    const withUsage = readChunks(asked)
    const { prompt_tokens, completion_tokens } = usage
    expect(withUsage.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens, completion_tokens } })
    expect(readText(asked)).toBe(readText(plain))
    await expectUsage('', [
      {
        requests: 4,
        prompt_tokens: 4 * prompt_tokens,
        completion_tokens: 4 * completion_tokens,
      },
    ])
  })

  test('with usage in every chunk has it only if it was requested', async () => {
    const both = { include_usage: true, continuous_usage_stats: true }
    const continuous = readChunks(await (await chat({ stream: true, stream_options: both })).text())
    expect(continuous.every(({ usage }) => usage)).toBe(true)
    const alone = await (await chat({ stream: true, stream_options: { continuous_usage_stats: true } })).text()
    expect(alone).not.toContain('usage')
  })

  test('whose client leaves is charged for the tokens until then', async () => {
    // An engine may return hundreds of tokens of a tiny model at once, before a client can disconnect.
    const maxTokens = 3500
    const left = new AbortController()
    const response = await chat({ stream: true, max_tokens: maxTokens, ignore_eos: true }, {}, left.signal)
    await response.body!.getReader().read()
    left.abort()
    const [usage] = await eventually(async () => {
      const found = await readUsage()
      expect(found).toMatchObject([{ requests: 1 }])
      return found
    })
    expect(usage!.completion_tokens).toBeGreaterThan(0)
    expect(usage!.completion_tokens).toBeLessThan(maxTokens)
  })

  test('is charged to the project in its header, or else to that of its model', async () => {
    const model = await rest.createModel()
    await chat({})
    await chat({}, { 'openai-project': `${entity}/billed` })
    await chat({}, { 'vendor-project': 'another-team/billed' })
    await chat({ model: model.address })
    await chat({ model: model.address, stream: true }, { 'vendor-project': `${entity}/billed` })
    await expectUsage('group_by=project', [
      { project: null, requests: 2 },
      { project: 'billed', requests: 2 },
      { project: 'tests', requests: 1 },
    ])
    await expectUsage(`model_id=${model.id}`, [{ requests: 2 }])
  })
})

test('a training is charged for the tokens of its steps, and its time', async () => {
  const model = await rest.createModel()
  const group = await sampleGroup(rest, model.address, 'Name a colour.', (_, index) => index % 2)
  const jobId = await rest.startJob(model.id, [group])
  const events = await rest.waitForEnd(jobId)
  expect(events.at(-1)?.type).toBe('training_ended')
  const tokens = events.map(({ data }) => Number(data['num_trainable_tokens'] ?? 0))
  const steps = tokens.filter((_, index) => events[index]!.type === 'gradient_step')
  const [usage] = await readUsage(`model_id=${model.id}&group_by=project`)
  expect(usage).toMatchObject({ project: 'tests', trained_tokens: steps.reduce((sum, each) => sum + each, 0) })
  expect(usage!['training_seconds']).toBeGreaterThan(0)
  const limits = await rest.call<{ in_use: { stored_bytes: number } }>('GET', '/v1/preview/limits')
  const { rows } = await pool.query<{ bytes: number }>('SELECT bytes FROM training.checkpoints WHERE job_id = $1', [
    jobId,
  ])
  expect(rows[0]!.bytes).toBeGreaterThan(1_000)
  expect(limits.in_use.stored_bytes).toBeGreaterThan(rows[0]!.bytes)
})
