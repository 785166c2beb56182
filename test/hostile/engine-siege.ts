import { setTimeout as delay } from 'node:timers/promises'
import { addKey, startApiServer } from '../support/api-server.ts'
import { createTestDatabase } from '../support/database.ts'
import { createRest, type Rest } from '../support/rest.ts'
import type { Stack } from '../support/stack.ts'

const attackersAtOnce = 4

/** What chats of a neighbour had to bear. */
export interface EngineReport {
  /** The statuses that the attacker's chats were answered with. */
  statuses: Record<string, number>
  failures: string[]
  /** The longest that a chat took, and one whose answer must have a structure. */
  worstMs: { plain: number; structured: number }
  restarts: number
}

interface Places {
  attacker: Rest
  neighbour: Rest
  chatModel: string
}

/** Sends chats with hostile members to the stack's own engine, while a neighbour chats with it. */
export async function besiegeEngine(stack: Stack, bodies: object[]): Promise<EngineReport> {
  const restartsBefore = await countRestarts(stack)
  const report: EngineReport = { statuses: {}, failures: [], worstMs: { plain: 0, structured: 0 }, restarts: 0 }
  await withGateway(stack, async (places) => {
    const stop = new AbortController()
    const neighbours = [chatOn(places, report, stop.signal, 'plain'), chatOn(places, report, stop.signal, 'structured')]
    const left = [...bodies]
    const attack = async () => {
      for (let body = left.shift(); body; body = left.shift()) await sendHostile(places, report, body)
    }
    await Promise.all(Array.from({ length: attackersAtOnce }, attack))
    stop.abort()
    await Promise.all(neighbours)
  })
  return { ...report, restarts: (await countRestarts(stack)) - restartsBefore }
}

/** An apiserver whose engines are the stack's, with a database of its own. */
async function withGateway(stack: Stack, work: (places: Places) => Promise<void>): Promise<void> {
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

async function sendHostile({ attacker, chatModel }: Places, report: EngineReport, body: object): Promise<void> {
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

async function chatOn(
  { neighbour, chatModel }: Places,
  report: EngineReport,
  signal: AbortSignal,
  kind: 'plain' | 'structured',
): Promise<void> {
  for (let round = 0; !signal.aborted; round++) {
    // Never the same: what was compiled before would be known.
    const options = kind === 'plain' ? {} : { structured_outputs: { choice: [`red ${round}`, `blue ${round}`] } }
    const startMs = performance.now()
    try {
      await neighbour.sample(chatModel, 'Name a colour.', { max_completion_tokens: 8, ...options })
    } catch (error) {
      report.failures.push(`${kind}: ${String(error)}`)
    }
    report.worstMs[kind] = Math.max(report.worstMs[kind], Math.round(performance.now() - startMs))
    await delay(100)
  }
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
