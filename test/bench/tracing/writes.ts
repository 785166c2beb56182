import { fileURLToPath } from 'node:url'
import { setTimeout as delay } from 'node:timers/promises'
import { createPool, type Pool } from '../../../db/pool.ts'
import { childEnvironment } from '../../../local/config.ts'
import { findFreePort } from '../../support/free-port.ts'
import type { StackHandle } from '../../support/global-setup.ts'
import { basic } from '../../support/post.ts'
import { log } from '../../support/template-database.ts'
import type { BenchServer } from '../bench-server.ts'
import { listTree, readCpu, subtractCpu } from '../processes.ts'
import { medians, ratioOf, takeTurns, type Figures } from '../harness.ts'
import { readPostgresPid } from '../processes.ts'
import { encodeSpans, makeCalls, type BenchCall } from './calls.ts'
import { sendAll, writeRequest } from '../connection.ts'
import { withProgram } from '../program.ts'
import { withPhoenix, type Phoenix } from './phoenix.ts'
import { copyRows, encodeRows, makeTable, toRow } from './plain-table.ts'

const callsPerRequest = 1_000
// OpenTelemetry exporters send this many spans in a request.
const spansPerRequest = 512
const connections = 3
const concurrency = 64
const settleLimitMs = 60_000
const [copyTable, singleTable] = ['bench_copy', 'bench_single']

export interface WriteCounts {
  rounds: number
  bulk: number
  slow: number
  single: number
}

/** Prepares what is not measured. What it returns is measured: when it resolves, all calls are durable. */
type Prepare = (calls: BenchCall[]) => Promise<() => Promise<unknown>>

/** How many calls are stored per second, and per second of processor time, here and in other ways on the same Postgres. */
export async function measureWrites(stack: StackHandle, server: BenchServer, counts: WriteCounts): Promise<Figures> {
  const pool = createPool(server.databaseUrl, log, concurrency + 4)
  await makeTable(pool, singleTable)
  const port = await findFreePort()
  const script = fileURLToPath(import.meta.resolve('./single-server.ts'))
  const single = {
    command: process.execPath,
    args: [script, String(port), server.databaseUrl, singleTable],
    env: childEnvironment({}),
    url: `http://127.0.0.1:${port}`,
    healthPath: '/',
  }
  try {
    return await withPhoenix(stack.databaseUrl, (phoenix) =>
      withProgram(single, async ({ url, pid }) => {
        const postgres = await readPostgresPid(stack)
        const measured = await takeTurns(counts.rounds, {
          ours: time(pool, [server.pid, postgres], counts.bulk, sendComplete(server, 'complete', callsPerRequest)),
          copy: time(pool, [postgres], counts.bulk, copyAll(pool)),
          ours_otlp: time(pool, [server.pid, postgres], counts.slow * 4, sendSpans(server.url, basic(server.apiKey))),
          phoenix: time(pool, [phoenix.pid, postgres], counts.slow, sendToPhoenix(phoenix)),
          ours_one_call: time(pool, [server.pid, postgres], counts.single, sendComplete(server, 'one', 1)),
          single_insert: time(pool, [pid, postgres], counts.single, sendComplete({ ...server, url }, 'one', 1)),
        })
        return {
          ours_vs_copy: ratioOf(measured.ours, measured.copy, 'calls_per_s'),
          ours_vs_phoenix: ratioOf(measured.ours_otlp, measured.phoenix, 'calls_per_cpu_s'),
          group_commit_vs_single_insert: ratioOf(measured.ours_one_call, measured.single_insert, 'calls_per_s'),
          ...Object.assign({}, ...Object.entries(measured).map(([name, rounds]) => medians(rounds, `${name}_`))),
        } as Figures
      }),
    )
  } finally {
    await pool.end()
  }
}

/** Measures one way of storing. A warm-up is a tenth of a round. */
function time(pool: Pool, pids: number[], count: number, prepare: Prepare) {
  return async (round: number): Promise<Figures> => {
    const calls = makeCalls('bench/source', round === 0 ? count / 10 : count)
    const work = await prepare(calls)
    await settle(pool)
    const read = () => readCpu(pids.flatMap(listTree))
    const [before, startMs] = [read(), performance.now()]
    await work()
    const seconds = (performance.now() - startMs) / 1000
    const cpuSeconds = subtractCpu(read(), before) / 1e6
    return { calls_per_s: calls.length / seconds, calls_per_cpu_s: calls.length / cpuSeconds }
  }
}

/** The remaining work of Postgres for one writer must not slow down the next one. */
async function settle(pool: Pool): Promise<void> {
  const limitMs = performance.now() + settleLimitMs
  await pool.query('CHECKPOINT')
  const isBusy = async () => {
    const { rows } = await pool.query(`SELECT FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'`)
    return rows.length > 0
  }
  while (performance.now() < limitMs && (await isBusy())) await delay(200)
}

type Target = Pick<BenchServer, 'url' | 'apiKey'>

/** The requests that store these calls in a project, so many calls in each. */
export function writeComplete({ url, apiKey }: Target, project: string, calls: BenchCall[], size = callsPerRequest) {
  const headers = { ...basic(apiKey), 'content-type': 'application/json' }
  return split(calls, size).map((batch) =>
    writeRequest({ url, path: `/v2/${project}/calls/complete`, headers }, JSON.stringify({ batch })),
  )
}

function sendComplete(target: Target, name: string, size: number): Prepare {
  const project = `bench/${name}`
  return async (calls) => {
    const own = calls.map((call) => ({ ...call, project_id: project }))
    const requests = writeComplete(target, project, own, size)
    return () => sendAll(target.url, requests, { connections: size === 1 ? concurrency : connections })
  }
}

function sendSpans(url: string, more: Record<string, string>, path = '/otel/v1/traces'): Prepare {
  const headers = { ...more, 'content-type': 'application/x-protobuf', project_id: 'bench/otlp' }
  return async (calls) => {
    const bodies = split(calls, spansPerRequest).map(encodeSpans)
    const requests = bodies.map((body) => writeRequest({ url, path, headers }, body))
    return () => sendAll(url, requests, { connections })
  }
}

function sendToPhoenix({ url, waitForSpans }: Phoenix): Prepare {
  return async (calls) => {
    const send = await sendSpans(url, {}, '/v1/traces')(calls)
    return async () => {
      await send()
      await waitForSpans(calls.length)
    }
  }
}

/** Copies all rows with one COPY into a new table. */
function copyAll(pool: Pool): Prepare {
  return async (calls) => {
    await makeTable(pool, copyTable)
    const rows = encodeRows(calls.map(toRow))
    return async () => {
      const client = await pool.connect()
      await copyRows(client, copyTable, rows).finally(() => client.release())
    }
  }
}

function split<T>(items: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  )
}
