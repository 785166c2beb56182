import type { Pool } from '../../../db/pool.ts'
import type { BenchServer } from '../bench-server.ts'
import type { BenchCall } from './calls.ts'
import { sendAll, writeRequest, type Target } from './client.ts'
import type { Contestant } from './contestant.ts'
import { encodeSpans } from './otlp.ts'
import type { Phoenix } from './phoenix.ts'
import type { Writer } from './rounds.ts'
import { copyRows, encodeRows, insertStatement, makeTable, singleTable, toRow } from './table.ts'

/** All participants, and how many calls each stores in a round. */
export interface Field {
  server: BenchServer
  /** It has a connection for each concurrent request. */
  pool: Pool
  postgresPid: number
  phoenix: Phoenix
  reference: Contestant
  /** Stores each call with one INSERT. */
  single: Contestant
  counts: { bulk: number; slow: number; single: number }
}

const json = 'application/json'
const protobuf = 'application/x-protobuf'
const callsPerRequest = 1_000
// OpenTelemetry exporters send this many spans in a request.
const spansPerRequest = 512
const connections = 3
const concurrency = 64
const copyChunks = { '16k': 16 * 1024, '64k': 64 * 1024, '1m': 1024 * 1024 }

export const copyNames = Object.keys(copyChunks).map((size) => `copy_${size}`)

export function createWriters(field: Field): Writer[] {
  const { server, pool, postgresPid, phoenix, reference, single, counts } = field
  const [ours, theirs] = [[server.pid, postgresPid], { url: reference.url, headers: basic('bench') }]
  const target = { url: server.url, headers: basic(server.apiKey) }
  return [
    { name: 'ours', callsPerRound: counts.bulk, pids: ours, prepare: prepareComplete(target, callsPerRequest) },
    ...Object.entries(copyChunks).map(([size, chunkBytes]) => ({
      name: `copy_${size}`,
      callsPerRound: counts.bulk,
      pids: [postgresPid],
      prepare: prepareCopy(pool, chunkBytes),
    })),
    { name: 'ours_otlp', callsPerRound: counts.slow * 4, pids: ours, prepare: prepareOtlp(target) },
    {
      name: 'phoenix',
      callsPerRound: counts.slow,
      pids: [phoenix.pid, postgresPid],
      prepare: preparePhoenix(phoenix),
    },
    { name: 'ours_upsert', callsPerRound: counts.slow * 4, pids: ours, prepare: prepareUpsert(target) },
    { name: 'reference', callsPerRound: counts.slow, pids: [reference.pid], prepare: prepareUpsert(theirs) },
    { name: 'ours_one_call', callsPerRound: counts.single, pids: ours, prepare: prepareComplete(target, 1) },
    { name: 'single_insert', callsPerRound: counts.single, pids: [postgresPid], prepare: prepareSingle(pool) },
    {
      name: 'single_insert_http',
      callsPerRound: counts.single,
      pids: [single.pid, postgresPid],
      prepare: prepareComplete({ url: single.url, headers: {} }, 1),
    },
  ]
}

/** The requests of the servers themselves. */
type Prepare = Writer['prepare']
type Place = Omit<Target, 'path'>

export const basic = (key: string) => ({ authorization: `Basic ${Buffer.from(`api:${key}`).toString('base64')}` })

function prepareComplete(place: Place, batchSize: number): Prepare {
  const project = batchSize === 1 ? 'one' : 'complete'
  const target = {
    ...place,
    headers: { ...place.headers, 'content-type': json },
    path: `/v2/bench/${project}/calls/complete`,
  }
  return async (calls) => {
    const batches = split(inProject(calls, project), batchSize)
    const requests = batches.map((batch) => writeRequest(target, JSON.stringify({ batch })))
    return () => sendAll(place.url, requests, batchSize === 1 ? concurrency : connections)
  }
}

/** Sends each call as its start and its end, in one batch. */
function prepareUpsert(place: Place): Prepare {
  const target = { ...place, headers: { ...place.headers, 'content-type': json }, path: '/call/upsert_batch' }
  return async (calls) => {
    const requests = split(inProject(calls, 'upsert'), callsPerRequest / 2).map((part) =>
      writeRequest(target, JSON.stringify({ batch: part.flatMap(toStartAndEnd) })),
    )
    return () => sendAll(place.url, requests, connections)
  }
}

function toStartAndEnd({ ended_at, output, exception, summary, ...start }: BenchCall) {
  const end = { project_id: start.project_id, id: start.id, ended_at, output, exception, summary }
  return [
    { mode: 'start', req: { start } },
    { mode: 'end', req: { end } },
  ]
}

function prepareOtlp(place: Place): Prepare {
  const headers = { ...place.headers, 'content-type': protobuf, project_id: 'bench/otlp' }
  return async (calls) => {
    const requests = writeSpans({ ...place, headers, path: '/otel/v1/traces' }, calls)
    return () => sendAll(place.url, requests, connections)
  }
}

function preparePhoenix({ url, waitForSpans }: Phoenix): Prepare {
  return async (calls) => {
    const requests = writeSpans({ url, headers: { 'content-type': protobuf }, path: '/v1/traces' }, calls)
    return async () => {
      await sendAll(url, requests, connections)
      await waitForSpans(calls.length)
    }
  }
}

function writeSpans(target: Target, calls: BenchCall[]): Buffer[] {
  return split(calls, spansPerRequest).map((part) => writeRequest(target, Buffer.from(encodeSpans(part, 'bench'))))
}

/** Copies all rows with one COPY into a new table. */
function prepareCopy(pool: Pool, chunkBytes: number): Prepare {
  return async (calls) => {
    await pool.query('DROP TABLE IF EXISTS bench_copy')
    await makeTable(pool, 'bench_copy')
    const rows = encodeRows(calls.map(toRow))
    return async () => {
      const client = await pool.connect()
      await copyRows(client, 'bench_copy', { rows, chunkBytes }).finally(() => client.release())
    }
  }
}

/** Inserts one row in each transaction, over several connections at once. */
function prepareSingle(pool: Pool): Prepare {
  const text = insertStatement(singleTable)
  return async (calls) => {
    const rows = calls.map(toRow)
    const clients = await Promise.all(Array.from({ length: concurrency }, () => pool.connect()))
    const work = async (client: (typeof clients)[number]) => {
      for (let row = rows.pop(); row; row = rows.pop()) await client.query({ name: 'single', text, values: row })
      client.release(true) // Others need the places.
    }
    return () => Promise.all(clients.map(work))
  }
}

const inProject = (calls: BenchCall[], project: string) =>
  calls.map((call) => ({ ...call, project_id: `bench/${project}` }))

function split<T>(items: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}
