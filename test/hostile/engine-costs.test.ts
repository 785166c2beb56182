import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { median, percentile } from '../bench/statistics.ts'
import { useStack } from '../support/stack.ts'
import { withGateway, type EngineSiege } from './engine-siege.ts'

const stack = useStack()
const goalMs = 2_000
const attackMs = 15_000

interface Load {
  path: string
  /** How many clients send it, again and again. */
  clients: number
  makeBody: () => object
}

const makeChat = (members: object) => ({
  messages: [{ role: 'user', content: `Count from ${randomUUID()} to a million.` }],
  ignore_eos: true,
  ...members,
})

const loads: Record<string, Load> = {
  'chats with 1,024 choices': {
    path: '/v1/chat/completions',
    clients: 6,
    makeBody: () => makeChat({ n: 1024, max_tokens: 300 }),
  },
  'many chats': { path: '/v1/chat/completions', clients: 300, makeBody: () => makeChat({ max_tokens: 500 }) },
  'completions of many prompts': {
    path: '/v1/completions',
    clients: 6,
    makeBody: () => ({ prompt: Array(64).fill(randomUUID()), n: 16, max_tokens: 300, ignore_eos: true }),
  },
  'long prompts that are all different': {
    path: '/v1/chat/completions',
    clients: 48,
    makeBody: () => makeChat({ messages: [{ role: 'user', content: `${randomUUID()} `.repeat(20) }], max_tokens: 1 }),
  },
  'texts of a megabyte to tokenize': {
    path: '/tokenize',
    clients: 12,
    makeBody: () => ({ prompt: 'word '.repeat(198_000) }),
  },
}

/** Sends a load until the time is over. Then its clients leave. */
async function attack({ attacker, chatModel }: EngineSiege, { path, clients, makeBody }: Load): Promise<number> {
  const signal = AbortSignal.timeout(attackMs)
  let answered = 0
  const send = async () => {
    while (!signal.aborted) {
      const response = await attacker
        .send('POST', path, { model: chatModel, ...makeBody() }, signal)
        .catch(() => undefined)
      await response?.arrayBuffer().catch(() => undefined)
      if (response?.status === 200) answered++
    }
  }
  await Promise.all(Array.from({ length: clients }, send))
  return answered
}

async function chatUntil(end: Promise<unknown>, { neighbour, chatModel }: EngineSiege): Promise<number[]> {
  let isOver = false
  void end.then(() => (isOver = true))
  const latenciesMs: number[] = []
  do {
    const startMs = performance.now()
    await neighbour.sample(chatModel, 'Name a colour.', { max_completion_tokens: 16 })
    latenciesMs.push(performance.now() - startMs)
    await delay(50)
  } while (!isOver)
  return latenciesMs
}

test('what one key lets an engine compute does not delay the chats of others', { timeout: 1_200_000 }, async () => {
  const slowest: Record<string, number> = {}
  await withGateway(stack, async (siege) => {
    const alone = await chatUntil(delay(5_000), siege)
    process.stdout.write(`a 16-token chat alone: median ${Math.round(median(alone))} ms\n`)
    for (const [name, load] of Object.entries(loads)) {
      const attacking = attack(siege, load)
      const latenciesMs = await chatUntil(attacking, siege)
      const p99 = Math.round(percentile(latenciesMs, 0.99))
      slowest[name] = p99
      process.stdout.write(
        `beside ${load.clients} clients with ${name} (${await attacking} answered): p99 ${p99} ms (goal ${goalMs}), ` +
          `median ${Math.round(median(latenciesMs))} ms, ${latenciesMs.length} chats\n`,
      )
    }
  })
  expect(Object.entries(slowest).filter(([, ms]) => ms > 10 * goalMs)).toEqual([])
})
