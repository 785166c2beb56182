import { setTimeout as delay } from 'node:timers/promises'
import { askGraphql, upsertRun } from '../../support/wandb.ts'
import type { BenchServer } from '../bench-server.ts'
import { median, percentile, round, type BenchResult } from '../result.ts'

const runs = 20
const linesPerSecond = 1_000
const seconds = 30
const postsPerSecond = 2
const manyKeys = 10_000
const linesOfManyKeys = 20
const project = 'bench'

/** Twenty runs that log at once, and one run with ten thousand keys. */
export async function measureRuns(server: BenchServer): Promise<BenchResult> {
  const paced = await measurePaced(server)
  const fast = await measureFast(server)
  const keys = await measureKeys(server)
  return { ratios: { lost_lines: paced.lost + fast.lost }, figures: { ...paced.figures, ...fast.figures, ...keys } }
}

interface Writer {
  name: string
  lines: number
}

/** Each run sends its lines twice a second, as the SDK does. */
async function measurePaced(server: BenchServer) {
  const writers = await beginRuns(server, 'paced')
  const timesMs: number[] = []
  const each = linesPerSecond / runs / postsPerSecond
  const startMs = performance.now()
  await Promise.all(
    writers.map(async (writer, index) => {
      for (let post = 0; post < seconds * postsPerSecond; post++) {
        // The runs do not send at the same moments.
        const dueMs = startMs + ((post + index / runs) * 1_000) / postsPerSecond
        await delay(Math.max(0, dueMs - performance.now()))
        const sentMs = performance.now()
        await sendLines(server, writer, each)
        timesMs.push(performance.now() - sentMs)
      }
    }),
  )
  const tookSeconds = (performance.now() - startMs) / 1_000
  const lines = writers.reduce((sum, writer) => sum + writer.lines, 0)
  return {
    lost: await countLost(server, writers),
    figures: {
      paced_lines: lines,
      paced_lines_per_s: round(lines / tookSeconds),
      paced_answer_p50_ms: round(median(timesMs)),
      paced_answer_p99_ms: round(percentile(timesMs, 0.99)),
    },
  }
}

/** Each run sends its next lines when the last ones are answered. */
async function measureFast(server: BenchServer) {
  const writers = await beginRuns(server, 'fast')
  const startMs = performance.now()
  await Promise.all(
    writers.map(async (writer) => {
      for (let post = 0; post < 20; post++) await sendLines(server, writer, 100)
    }),
  )
  const tookSeconds = (performance.now() - startMs) / 1_000
  const lines = writers.reduce((sum, writer) => sum + writer.lines, 0)
  return { lost: await countLost(server, writers), figures: { fastest_lines_per_s: round(lines / tookSeconds) } }
}

async function beginRuns({ url, apiKey: key }: BenchServer, prefix: string): Promise<Writer[]> {
  const writers: Writer[] = []
  for (let index = 0; index < runs; index++) {
    const name = `${prefix}-${index}`
    await upsertRun({ url, key }, { modelName: project, name })
    writers.push({ name, lines: 0 })
  }
  return writers
}

async function sendLines(server: BenchServer, writer: Writer, count: number): Promise<void> {
  const content = Array.from({ length: count }, (_, index) => makeLine(writer.lines + index))
  const files = {
    'wandb-history.jsonl': { offset: writer.lines, content },
    'wandb-summary.json': { offset: 0, content: [content.at(-1)!] },
  }
  await sendStream(server, writer.name, { files })
  writer.lines += count
}

const makeLine = (step: number) =>
  JSON.stringify({
    _step: step,
    _runtime: step / 50,
    _timestamp: 1_790_000_000 + step / 50,
    loss: Math.random(),
    reward: Math.random(),
    'train/grad_norm': Math.random(),
    'train/entropy': Math.random(),
    'val/accuracy': Math.random(),
  })

/** Sends again after a 429, as the SDK does. */
async function sendStream({ url, apiKey, entity }: BenchServer, run: string, body: object): Promise<void> {
  const request = {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`api:${apiKey}`)}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }
  for (;;) {
    const { status } = await fetch(`${url}/files/${entity}/${project}/${run}/file_stream`, request)
    if (status === 200) return
    if (status !== 429 && status < 500) throw new Error(`lines were answered by ${status}`)
    await delay(1_000)
  }
}

/** How many lines are not there exactly once, at their places. */
async function countLost({ pool }: BenchServer, writers: Writer[]): Promise<number> {
  const { rows } = await pool.query<{ name: string; lines: number; last: number }>(
    `SELECT r.name, count(*)::integer AS lines, max(l.line) AS last FROM training.run_lines l
     JOIN training.runs r ON r.number = l.run WHERE l.stream = 0 AND l.step = l.line GROUP BY r.name`,
  )
  const found = new Map(rows.map((row) => [row.name, row]))
  const lost = writers.map(({ name, lines }) => {
    const row = found.get(name)
    return lines - (row?.last === lines - 1 ? row.lines : 0)
  })
  return lost.reduce((sum, count) => sum + Math.abs(count), 0)
}

async function measureKeys(server: BenchServer): Promise<Record<string, number>> {
  const api = { url: server.url, key: server.apiKey }
  await upsertRun(api, { modelName: project, name: 'wide' })
  const content = Array.from({ length: linesOfManyKeys }, (_, step) =>
    JSON.stringify({
      _step: step,
      ...Object.fromEntries(Array.from({ length: manyKeys }, (_key, index) => [`metric/${index}`, step + index])),
    }),
  )
  const writeMs: number[] = []
  for (const [offset, line] of content.entries()) {
    const files = {
      'wandb-history.jsonl': { offset, content: [line] },
      'wandb-summary.json': { offset: 0, content: [line] },
    }
    writeMs.push(await time(() => sendStream(server, 'wide', { files })))
  }
  const read = async (fields: string) => {
    const query = `{ project(name: "${project}") { run(name: "wide") { ${fields} } } }`
    return askGraphql<{ project: { run: Record<string, unknown> } }>(api, query)
  }
  let keys = 0
  const keysMs = await time(async () => {
    const { project: found } = await read('historyKeys summaryMetrics')
    keys = Object.keys((found.run['historyKeys'] as { keys: object }).keys).length
  })
  if (keys < manyKeys) throw new Error(`the run has ${keys} keys`)
  const historyMs = await time(() => read(`history(minStep: 0, maxStep: ${linesOfManyKeys})`))
  return {
    wide_run_keys: keys,
    wide_line_write_p50_ms: round(median(writeMs)),
    wide_keys_and_summary_ms: round(keysMs),
    wide_history_of_20_lines_ms: round(historyMs),
  }
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await work()
  return performance.now() - startMs
}
