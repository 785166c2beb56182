import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { commandActor as by } from '../../../db/accounts/audit-log.ts'
import { createKey, revokeKey } from '../keys/service.ts'
import { CommandError, type PreparedCommand, type Printed } from './command.ts'

export const testUsage = `usage: node apiserver/accounts/admin/main.ts test --url URL [--base-model NAME] [--train]

Chats with a base model through the API server at URL. With --train, it also trains a small SFT job and chats with its result.
Without --base-model, it uses the first one. Everything belongs to an entity of its own, which is erased at the
end. Its key is revoked.`

const options = {
  url: { type: 'string' },
  'base-model': { type: 'string' },
  train: { type: 'boolean', default: false },
} as const

// An engine at zero may have to download its weights first.
const requestMs = 15 * 60_000
const keySeconds = 3_600
const question = [{ role: 'user', content: 'Name a colour.' }]
const rows = `${JSON.stringify({ messages: [...question, { role: 'assistant', content: 'It is purple.' }] })}\n`.repeat(
  8,
)

type Send = (method: string, path: string, body?: object | string) => Promise<unknown>

interface Subject {
  send: Send
  entity: string
  baseModel: string | undefined
}

/** Tests an installation as a user would: `helm test` runs this command in a pod. */
export function prepareTestCommand(args: string[]): PreparedCommand {
  const { url, train, 'base-model': baseModel } = readOptions(args)
  return async (pool) => {
    const entity = `test-${randomUUID().slice(0, 8)}`
    const expiresAt = new Date(Date.now() + keySeconds * 1_000)
    const id = randomUUID()
    const { key } = await createKey(pool, {
      id,
      entity,
      role: 'admin',
      name: 'test',
      expiresAt,
      traceProject: null,
      by,
    })
    const send = createClient(url, key)
    try {
      return await test({ send, entity, baseModel }, train)
    } finally {
      await send('DELETE', `/v1/preview/entities/${entity}`)
      await revokeKey(pool, { entity, id, keepAdmin: false, by })
    }
  }
}

function readOptions(args: string[]) {
  try {
    const { url, ...values } = parseArgs({ args, options }).values
    if (url !== undefined) return { url, ...values }
  } catch (cause) {
    throw new CommandError(`${(cause as Error).message}\n${testUsage}`, { cause })
  }
  throw new CommandError(testUsage)
}

async function test({ send, entity, baseModel }: Subject, train: boolean): Promise<Printed> {
  const base = baseModel ?? (await readFirstModel(send))
  const lines = [`${base} answers: ${await chat(send, base)}`]
  if (train) {
    const { name, seconds } = await trainModel({ send, entity, baseModel: base })
    lines.push(`a job trained ${name} in ${seconds} s`, `${name} answers: ${await chat(send, name)}`)
  }
  return { output: lines.map((line) => `${line}\n`).join('') }
}

async function readFirstModel(send: Send): Promise<string> {
  const { data } = (await send('GET', '/v1/models')) as { data: { id: string }[] }
  if (data[0]) return data[0].id
  throw new CommandError('There is no base model yet. Apply a BaseModel, or set baseModels in the values of the chart.')
}

async function chat(send: Send, model: string): Promise<string> {
  const body = { model, messages: question, max_completion_tokens: 8 }
  const { choices } = (await send('POST', '/v1/chat/completions', body)) as {
    choices: { message: { content: string | null } }[]
  }
  return JSON.stringify(choices[0]?.message.content)
}

async function trainModel({ send, entity, baseModel }: Subject): Promise<{ name: string; seconds: number }> {
  const begun = performance.now()
  const model = (await send('POST', '/v1/preview/models', {
    project: 'test',
    name: 'colours',
    base_model: baseModel,
  })) as { id: string }
  const { address } = (await send('PUT', `/v1/preview/artifacts/${entity}/test/colours?file=train.jsonl`, rows)) as {
    address: string
  }
  const { id } = (await send('POST', '/v1/preview/sft-training-jobs', {
    model_id: model.id,
    training_data_url: address,
    config: { batch_size: 4 },
  })) as { id: string }
  await waitForEnd(send, id)
  return { name: `${entity}/test/colours`, seconds: Math.round((performance.now() - begun) / 1_000) }
}

async function waitForEnd(send: Send, jobId: string): Promise<void> {
  for (let after = ''; ;) {
    const { data } = (await send('GET', `/v1/preview/training-jobs/${jobId}/events?wait=30${after}`)) as {
      data: { id: string; type: string; data: unknown }[]
    }
    for (const event of data) {
      if (event.type === 'training_ended') return
      if (event.type === 'training_failed') throw new CommandError(`The job failed: ${JSON.stringify(event.data)}`)
      after = `&after=${event.id}`
    }
  }
}

function createClient(url: string, key: string): Send {
  return async (method, path, body) => {
    const isText = typeof body === 'string'
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': isText ? 'application/jsonl' : 'application/json' }),
      },
      ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(requestMs),
    }).catch((cause: Error) => {
      throw new CommandError(`${method} ${url}${path} was not answered: ${explain(cause)}`, { cause })
    })
    const text = await response.text()
    if (!response.ok) throw new CommandError(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }
}

/** The reason why fetch failed is the cause of its error. */
const explain = ({ message, cause }: Error) => (cause instanceof Error ? cause.message : message)
