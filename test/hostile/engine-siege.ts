import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { addKey, startApiServer } from '../support/api-server.ts'
import { createTestDatabase } from '../support/database.ts'
import { createRest, type Rest } from '../support/rest.ts'
import type { Stack } from '../support/stack.ts'

const attackersAtOnce = 4
const calmMs = 20_000

/** The longest time of a plain chat, and of a chat with a grammar. */
interface WorstMs {
  plain: number
  structured: number
}

/** The effect on a neighbour's chats. */
export interface EngineReport {
  /** The statuses of the attacker's chats. */
  statuses: Record<string, number>
  failures: string[]
  /** Before the attack. */
  calmWorstMs: WorstMs
  hostileWorstMs: WorstMs
  restarts: number
}

export interface EngineSiege {
  attacker: Rest
  neighbour: Rest
  chatModel: string
}

/** Sends chats with hostile members to the stack's engine, while a neighbour chats with it. */
export async function besiegeEngine(stack: Stack, bodies: object[]): Promise<EngineReport> {
  const restartsBefore = await countRestarts(stack)
  const report: EngineReport = {
    statuses: {},
    failures: [],
    calmWorstMs: { plain: 0, structured: 0 },
    hostileWorstMs: { plain: 0, structured: 0 },
    restarts: 0,
  }
  await withGateway(stack, async (siege) => {
    const { failures, calmWorstMs, hostileWorstMs } = report
    // The first chat of each kind makes the engine load what it needs.
    await chatBeside(async () => {}, { siege, failures, worstMs: { plain: 0, structured: 0 } })
    await chatBeside(() => delay(calmMs), { siege, failures, worstMs: calmWorstMs })
    await chatBeside(() => attack(siege, report, bodies), { siege, failures, worstMs: hostileWorstMs })
  })
  return { ...report, restarts: (await countRestarts(stack)) - restartsBefore }
}

async function attack(siege: EngineSiege, report: EngineReport, bodies: object[]): Promise<void> {
  const left = [...bodies]
  const sendNext = async () => {
    for (let body = left.shift(); body; body = left.shift()) await sendHostile(siege, report, body)
  }
  await Promise.all(Array.from({ length: attackersAtOnce }, sendNext))
}

/** Where the results of a neighbour's chats are recorded. */
interface Notes {
  siege: EngineSiege
  failures: string[]
  worstMs: WorstMs
}

/** A neighbour sends chats of both kinds while `work` runs. */
async function chatBeside(work: () => Promise<unknown>, notes: Notes): Promise<void> {
  const stop = new AbortController()
  const neighbours = [chatOn(notes, stop.signal, 'plain'), chatOn(notes, stop.signal, 'structured')]
  try {
    await work()
  } finally {
    stop.abort()
    await Promise.all(neighbours)
  }
}

/** An apiserver with its own database and the stack's engines. */
export async function withGateway(stack: Stack, work: (siege: EngineSiege) => Promise<void>): Promise<void> {
  const database = await createTestDatabase()
  const secret = await stack.kubectl('-n', 'trainyard', 'get', 'secret', 'trainyard-secrets', '-o', 'json')
  const { data } = JSON.parse(secret) as { data: Record<string, string> }
  const engineKey = Buffer.from(data['engine-key']!, 'base64').toString()
  const chatModel = stack.baseModel
  await database.pool.query(
    `INSERT INTO training.base_models (name, names, namespace, cr_name) VALUES ($1, ARRAY[$1], 'trainyard', 'tiny-chat')`,
    [chatModel],
  )
  const server = await startApiServer(stack, database.databaseUrl, { TRAINYARD_ENGINE_KEY: engineKey })
  const join = async (entity: string) =>
    createRest({ url: server.url, apiKey: await addKey(database.pool, entity, 'read'), baseModel: chatModel })
  try {
    await work({ attacker: await join('attacker'), neighbour: await join('neighbour'), chatModel })
  } finally {
    await server.remove()
    await database.drop()
  }
}

async function sendHostile({ attacker, chatModel }: EngineSiege, report: EngineReport, body: object): Promise<void> {
  const messages = [{ role: 'user', content: 'Hello.' }]
  const response = await attacker.send('POST', '/v1/chat/completions', {
    model: chatModel,
    messages,
    max_tokens: 8,
    ...body,
  })
  await response.text()
  report.statuses[response.status] = (report.statuses[response.status] ?? 0) + 1
}

async function chatOn(notes: Notes, signal: AbortSignal, kind: keyof WorstMs): Promise<void> {
  const { neighbour, chatModel } = notes.siege
  do {
    // Always different, so that no compiled grammar can be reused.
    const choice = ['red', 'blue'].map((colour) => `${colour} ${randomUUID()}`)
    const options = kind === 'plain' ? {} : { structured_outputs: { choice } }
    const startMs = performance.now()
    try {
      await neighbour.sample(chatModel, 'Name a colour.', { max_completion_tokens: 8, ...options })
    } catch (error) {
      notes.failures.push(`${kind}: ${String(error)}`)
    }
    notes.worstMs[kind] = Math.max(notes.worstMs[kind], Math.round(performance.now() - startMs))
    await delay(100)
  } while (!signal.aborted)
}

async function countRestarts(stack: Stack): Promise<number> {
  const path = '{.items[*].status.containerStatuses[*].restartCount}'
  const text = await stack.kubectl(
    '-n',
    'trainyard',
    'get',
    'pods',
    '-l',
    'trainyard.dev/component=engine',
    '-o',
    `jsonpath=${path}`,
  )
  return text
    .split(/\s+/)
    .map(Number)
    .reduce((sum, count) => sum + count, 0)
}
