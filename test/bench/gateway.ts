import { setTimeout as delay } from 'node:timers/promises'
import { Connection, writeRequest } from './connection.ts'
import { withClient, type SendLoad } from './gateway/client.ts'
import { withLitellm, withMockEngine, withOurs, withPipe, type Contestant, type Work } from './gateway/contestants.ts'
import { atLeast, atMost, defineBench, medians, ratioOf, takeTurns, type Figures } from './harness.ts'
import { readCpu, readMemoryMb, subtractCpu } from './processes.ts'
import { median, percentile } from './statistics.ts'

// V8 returns memory that only the start needed.
const restMs = 20_000
const openStreams = 1_000
// The background work of a contestant must not affect the next one.
const settleMs = 100
const warmUpTimes = 3

/** A kind of chat. Each token of a reply has its log-probability, which takes about 250 bytes. */
interface Workload {
  requestBytes: number
  tokens: number
  /** The pause between two events in milliseconds. Undefined for a complete reply. */
  eventEveryMs?: number
}

const workloads = {
  '4kb': { requestBytes: 4096, tokens: 34 },
  '64kb_reply': { requestBytes: 4096, tokens: 620 },
  '64kb_request': { requestBytes: 65_536, tokens: 34 },
  // The same pause as on an engine that samples quickly, so that each event is sent alone.
  stream: { requestBytes: 4096, tokens: 64, eventEveryMs: 4 },
} satisfies Record<string, Workload>
type WorkloadName = keyof typeof workloads
const names = Object.keys(workloads) as WorkloadName[]

/**
 * What it costs to pass a chat on: through our apiserver with key, limits and usage, through a bare Node pipe, which is the
 * floor, and through LiteLLM's proxy. All use the same mock engine, by turns. Processor time is that of all processes of a
 * server, Postgres included.
 */
export const gateway = defineBench({
  stack: 'control',
  counts: { rounds: 9, chats: 2_000, streams: 160 },
  parts: ['pipe', 'litellm', 'ours'],
  goals: {
    chats_per_core_vs_litellm_4kb: atLeast(20),
    chats_per_core_vs_litellm_64kb_reply: atLeast(20),
    chats_per_core_vs_litellm_64kb_request: atLeast(20),
    chats_per_core_vs_litellm_stream: atLeast(10),
    p50_beyond_engine_4kb_ms: atMost(1),
    p50_beyond_engine_64kb_reply_ms: atMost(1),
    p50_beyond_engine_64kb_request_ms: atMost(1),
    idle_mb: atMost(150),
    more_mb_with_streams: atMost(100),
  },
  measure: ({ stack, counts, parts }) =>
    withMockEngine((engine) => {
      const starts: Record<string, (work: Work<Figures>) => Promise<Figures>> = {
        pipe: (work) => withPipe(engine, work),
        litellm: (work) => withLitellm(engine, work),
        ours: (work) => withOurs(stack, engine, work),
      }
      const start = ([part, ...left]: readonly string[], started: Contestant[]): Promise<Figures> =>
        part === undefined
          ? withClient((send) => measure(send, started, counts))
          : starts[part]!((found) => start(left, [...started, found]))
      return start(parts, [engine])
    }),
})

interface Counts {
  rounds: number
  chats: number
  streams: number
}

async function measure(send: SendLoad, contestants: Contestant[], counts: Counts): Promise<Figures> {
  await delay(restMs)
  const ours = contestants.find(({ name }) => name === 'ours')
  const memory = ours ? await measureMemory(ours) : {}
  for (const contestant of contestants) await verifyReplies(contestant)
  const cases: Record<string, (round: number) => Promise<Figures>> = {}
  for (const load of listLoads(counts)) {
    for (const contestant of contestants) {
      cases[`${contestant.name}_${load.name}_at_${load.connections}`] = async (round) => {
        await delay(settleMs)
        return measureLoad(send, contestant, { ...load, count: load.count * (round === 0 ? warmUpTimes : 1) })
      }
    }
  }
  const measured = await takeTurns(counts.rounds, cases)
  const all = Object.entries(measured).map(([name, rounds]) => medians(rounds, `${name}_`))
  return { ...compare(measured), ...memory, ...(Object.assign({}, ...all) as Figures) }
}

/** Streams one at a time take long, so that they are fewer. */
function listLoads({ chats, streams }: Counts): Load[] {
  return [16, 1].flatMap((connections) =>
    names.map((name) => {
      const count = name === 'stream' ? Math.ceil((streams * (connections + 4)) / 20) : chats
      return { name, connections, count }
    }),
  )
}

/** Ratios are medians of the rounds. Without a contestant, its figures are left out. */
function compare(measured: Record<string, Figures[]>): Figures {
  const figures: Figures = {}
  const add = (name: string, one: string, other: string, read: (one: Figures[], other: Figures[]) => number) => {
    if (measured[one] && measured[other]) figures[name] = read(measured[one], measured[other])
  }
  const cpu = (one: Figures[], other: Figures[]) => ratioOf(one, other, 'cpu_us')
  const later = (one: Figures[], other: Figures[]) =>
    median(one.map((found, index) => found['p50_ms']! - other[index]!['p50_ms']!))
  for (const name of names) {
    add(`chats_per_core_vs_litellm_${name}`, `litellm_${name}_at_16`, `ours_${name}_at_16`, cpu)
    if (name !== 'stream') add(`p50_beyond_engine_${name}_ms`, `ours_${name}_at_1`, `engine_${name}_at_1`, later)
  }
  return figures
}

interface Load {
  name: WorkloadName
  connections: number
  count: number
}

async function measureLoad(send: SendLoad, contestant: Contestant, load: Load): Promise<Figures> {
  const { url, divisor = 1, listProcesses } = contestant
  const request = buildChat(contestant, workloads[load.name]).toString()
  const count = Math.max(load.connections, Math.round(load.count / divisor))
  const before = readCpu(listProcesses())
  const latenciesMs = await send({ url, request, count, connections: load.connections })
  const cpuUs = subtractCpu(readCpu(listProcesses()), before) / count
  return { cpu_us: cpuUs, p50_ms: median(latenciesMs), p99_ms: percentile(latenciesMs, 0.99) }
}

/** Resident memory without Postgres, and how much more with open streams that each have an event every two seconds. */
async function measureMemory(ours: Contestant): Promise<Figures> {
  const read = () => readMemoryMb(ours.pid!)
  const idleMb = read()
  const request = buildChat(ours, { requestBytes: 1024, tokens: 64, eventEveryMs: 2_000 })
  const held: Connection[] = []
  // Only a few connections are opened at a time, because the backlog of a listener is short.
  const open = async () => {
    while (held.length < openStreams) {
      const connection = new Connection(ours.url)
      held.push(connection)
      await connection.openStream(request)
    }
  }
  await Promise.all(Array.from({ length: 20 }, open))
  await delay(5_000)
  const withStreamsMb = read()
  for (const connection of held) connection.close()
  return { idle_mb: idleMb, more_mb_with_streams: withStreamsMb - idleMb }
}

/** Sends a contestant one chat of each kind. @throws {Error} if a part of a reply is missing */
async function verifyReplies(contestant: Contestant): Promise<void> {
  for (const name of names) {
    const connection = new Connection(contestant.url)
    const { status, body } = await connection.send(buildChat(contestant, workloads[name]))
    connection.close()
    const text = body.toString()
    const isWhole =
      text.split('"logprob":').length - 1 === workloads[name].tokens && text.includes(JSON.stringify(contestant.model))
    if (status !== 200 || !isWhole)
      throw new Error(`${contestant.name} answers ${name} by ${status}: ${text.slice(0, 1_000)}`)
  }
}

const textPiece = 'What did the "red" fox do on the way home?\nIt ate 3 apples \u2014 and slept. '
const messageCharacters = 920

/**
 * A chat of about the workload's size. The mock engine reads its reply's form from it: `max_tokens` is the number of tokens,
 * and `seed` is the pause between two events. All contestants pass these members on.
 */
function buildChat({ url, apiKey, model }: Contestant, { requestBytes, tokens, eventEveryMs }: Workload): Buffer {
  const content = textPiece.repeat(Math.ceil(messageCharacters / textPiece.length)).slice(0, messageCharacters)
  const count = Math.max(1, Math.round(requestBytes / Buffer.byteLength(JSON.stringify(content))))
  const messages = Array.from({ length: count }, (_, index) => ({ role: index % 2 ? 'assistant' : 'user', content }))
  const stream = eventEveryMs && { seed: eventEveryMs, stream: true, stream_options: { include_usage: true } }
  const body = { model, messages, max_tokens: tokens, temperature: 1, logprobs: true, ...stream }
  const headers = { accept: 'application/json', 'content-type': 'application/json', authorization: `Bearer ${apiKey}` }
  return writeRequest({ url, path: '/v1/chat/completions', headers }, JSON.stringify(body))
}
