import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { prompts } from '../../local/demo/rewards.ts'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { addKey } from '../support/api-server.ts'
import { createRest, type Rest } from '../support/rest.ts'
import { useStack } from '../support/stack.ts'
import { teachModel } from '../support/taught-model.ts'

const stack = useStack()
const requests = 10_000
const atATime = 32
const answers = ['It is purple.', 'Maybe orange.'] as const

/** A name under which an entity knows one of its checkpoints, and the only right answer. */
interface Name {
  rest: Rest
  model: string
  answer: string
}

let pool: Pool
let names: Name[]

beforeAll(async () => {
  pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 2)
  const other = createRest(stack, await addKey(pool, `opposite-${randomUUID()}`))
  const [own, foreign] = await Promise.all([
    teachBoth(createRest(stack), answers),
    teachBoth(other, answers.toReversed()),
  ])
  // Neighbours in this list belong to two entities and have opposite answers.
  names = own.flatMap((name, index) => [name, foreign[index]!])
})
afterAll(() => pool.end())

/** Trains two steps to opposite answers. The first has an alias, which is never moved. */
async function teachBoth(rest: Rest, [first, second]: readonly string[]): Promise<Name[]> {
  const model = await rest.createModel()
  for (const answer of [first, second])
    await teachModel(
      rest,
      model,
      prompts.map((prompt) => ask(prompt, answer)),
    )
  await rest.call('PUT', `/v1/preview/models/${model.id}/aliases/first`, { step: 1 })
  const short = model.address.replace('wandb-artifact:///', '')
  const reported = (suffix: string, answer = '') => ({ rest, model: suffix, answer })
  return [
    reported(`${model.address}:step1`, first),
    reported(model.address, second),
    reported(`${model.address}:first`, first),
    reported(`${model.address}:latest`, second),
    reported(`${short}:step1`, first),
    reported(`${short}:step2`, second),
  ]
}

const ask = (prompt: string, answer = '') => ({
  messages: [
    { role: 'user', content: prompt },
    { role: 'assistant', content: answer },
  ],
})

/** Each name gets each prompt, and then each prompt once more as a stream. */
async function askFor(index: number): Promise<string> {
  const { rest, model } = names[index % names.length]!
  const round = Math.floor(index / names.length)
  const content = prompts[round % prompts.length]
  const stream = Math.floor(round / prompts.length) % 2 === 1
  const body = { model, stream, messages: [{ role: 'user', content }], temperature: 0, max_completion_tokens: 12 }
  const response = await rest.send('POST', '/v1/chat/completions', body)
  const text = await response.text()
  if (!response.ok) return `${response.status}: ${text}`
  const lines = stream ? text.split('\n').filter((line) => line.startsWith('data: {')) : [`data: ${text}`]
  return lines.map((line) => readContent(line.slice('data: '.length), model)).join('')
}

interface Reply {
  model: string
  choices: { message?: { content: string }; delta?: { content?: string } }[]
}

function readContent(json: string, model: string): string {
  const reply = JSON.parse(json) as Reply
  const [choice] = reply.choices
  return reply.model === model ? (choice?.message?.content ?? choice?.delta?.content ?? '') : `from ${reply.model}`
}

test(`${requests} interleaved requests of two entities on opposite adapters have not one wrong answer`, async () => {
  const wrong: string[] = []
  let next = 0
  const work = async () => {
    for (let index = next++; index < requests; index = next++) {
      const given = await askFor(index)
      const { model, answer: right } = names[index % names.length]!
      if (given !== right) wrong.push(`request ${index} to ${model}: ${given}`)
    }
  }
  await Promise.all(Array.from({ length: atATime }, work))
  expect(wrong).toEqual([])
})
