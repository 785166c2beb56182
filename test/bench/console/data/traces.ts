import { newId } from '../../../../apiserver/tracing/ids.ts'
import type { BenchServer } from '../../bench-server.ts'
import { sendAll, writeRequest } from '../../tracing/client.ts'
import { createRandom } from '../../tracing/random.ts'
import { basic } from '../../tracing/writers.ts'

const callsPerRequest = 1_000
const connections = 2

/** A call as weave sends it when it has ended. */
interface SentCall {
  id: string
  parent_id: string | null
  op_name: string
  inputs: unknown
  output: unknown
  fromMs: number
  toMs: number
}

/** Sends the calls of a trace. */
async function sendTrace(server: BenchServer, project: string, calls: readonly SentCall[]): Promise<void> {
  const project_id = `${server.entity}/${project}`
  const [trace_id, begin] = [newId(), Date.now() - 3_600_000]
  const at = (ms: number) => new Date(begin + ms).toISOString()
  const batch = calls.map(({ fromMs, toMs, ...call }) => ({
    ...call,
    project_id,
    trace_id,
    started_at: at(fromMs),
    ended_at: at(toMs),
    attributes: {},
    summary: { usage: { 'tiny-chat': { requests: 1, prompt_tokens: 12, completion_tokens: 4 } } },
  }))
  const target = {
    url: server.url,
    path: `/v2/${project_id}/calls/complete`,
    headers: { ...basic(server.apiKey), 'content-type': 'application/json' },
  }
  const parts = Array.from({ length: Math.ceil(batch.length / callsPerRequest) }, (_, index) =>
    batch.slice(index * callsPerRequest, (index + 1) * callsPerRequest),
  )
  await sendAll(
    server.url,
    parts.map((part) => writeRequest(target, JSON.stringify({ batch: part }))),
    connections,
  )
}

const text = 'The quick brown fox jumps over the lazy dog. '.repeat(20)

/**
 * Sends a trace whose calls are below earlier ones, some of them many levels deep. Returns the id of its root.
 */
export async function sendWideTrace(server: BenchServer, project: string, count: number): Promise<string> {
  const random = createRandom(18)
  const calls: SentCall[] = []
  for (let index = 0; index < count; index++) {
    // Half of the calls are below one of the last ten, so that the tree is deep in places.
    const parent = random.below(2) === 0 ? index - 1 - random.below(Math.min(10, index)) : random.below(index)
    calls.push({
      id: newId(),
      parent_id: index === 0 ? null : calls[parent]!.id,
      op_name: index === 0 ? 'root' : `op ${index}`,
      inputs: { index, text },
      output: text,
      fromMs: index,
      toMs: index === 0 ? count + 100 : index + 1 + random.below(90),
    })
  }
  await sendTrace(server, project, calls)
  return calls[0]!.id
}

/** Sends a call whose output is so large as JSON. Returns its id. */
export async function sendLargeCall(server: BenchServer, project: string, bytes: number): Promise<string> {
  const row = {
    name: 'a row of a large answer',
    score: 0.123456,
    tags: ['one', 'two', 'three'],
    text: text.slice(0, 300),
  }
  const rows = Array.from({ length: Math.ceil(bytes / JSON.stringify(row).length) }, (_, index) => ({ index, ...row }))
  const call = { id: newId(), parent_id: null, op_name: 'large', inputs: {}, output: rows, fromMs: 0, toMs: 50 }
  await sendTrace(server, project, [call])
  return call.id
}
