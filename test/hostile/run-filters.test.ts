import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, expect, test } from 'vitest'
import { maxDocumentValues } from '../../apiserver/wandb/json-text.ts'
import { listRuns } from '../../db/runs/list.ts'
import { createPool, type Pool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { useTestDatabase } from '../support/database.ts'
import { mib } from './bodies.ts'
import { readMemory } from './process-memory.ts'

const goal = { bytes: 256 * mib, ms: 2_000 }
// As much as a request can send, and as many values as a document may have.
const largest = { config: 15 * mib, summary: 30 * mib, values: maxDocumentValues - 10 }

const text = (bytes: number) => Array.from({ length: bytes / 8 }, (_, at) => String(at).padStart(8)).join('')

/** Configs and summaries by the name of their project. */
const documents: Record<string, (bytes: number) => string> = {
  text: (bytes) => `{"b": {"value": "${text(bytes)}"}}`,
  values: (bytes) => `{"b": {"value": [${'1,'.repeat(largest.values)} "${text(bytes - 2 * largest.values)}"]}}`,
  keys: () => {
    const members = Array.from(
      { length: largest.values / 3 },
      (_, at) => `"k${String(at).padStart(8, '0')}":{"value":1}`,
    )
    return `{${members.join(',')}}`
  },
  nested: (bytes) => `{"b": {"value": ${'{"a":'.repeat(100)}"${'x'.repeat(bytes)}"${'}'.repeat(100)}}}`,
}

const list = (count: number, item: (at: number) => unknown) => Array.from({ length: count }, (_, at) => item(at))

/** Filters of as many conditions and values as a filter may have. */
const filters: Record<string, { filter: unknown; order?: string }> = {
  'one field, 1,000 values': { filter: { 'config.b': { $in: list(1_000, (at) => `value ${at}`) } } },
  '200 fields': { filter: { $or: list(200, (at) => ({ [`config.k${String(at).padStart(8, '0')}`]: 2 })) } },
  '200 nested fields': { filter: { $or: list(200, (at) => ({ [`config.b${'.a'.repeat(at)}`]: 2 })) } },
  '200 patterns': { filter: { $or: list(200, (at) => ({ 'config.b': { $regex: `none ${at}` } })) } },
  'an order': { filter: {}, order: '-config.b' },
  'config and summary': {
    filter: { 'config.b': 1, 'summary_metrics.b': { $exists: true } },
    order: 'summary_metrics.b',
  },
}

const database = useTestDatabase()
let pool: Pool
beforeAll(async () => {
  for (const [name, write] of Object.entries(documents)) {
    const [config, summary] = [write(largest.config), write(largest.summary)]
    for (const count of [1, 20])
      for (let at = 0; at < count; at++)
        await database.pool.query(
          `INSERT INTO training.runs (key_id, entity, project, name, config, summary)
           VALUES (gen_random_uuid(), 'hostile', $1, $2, $3, $4)`,
          [`${name} ${count}`, `run ${at}`, config, summary],
        )
  }
}, 600_000)

/** The most private memory of a new connection while it lists runs, and the time that the list takes. */
async function measure(project: string, { filter, order = '+createdAt' }: { filter: unknown; order?: string }) {
  pool = createPool(database.databaseUrl, createLogger('test', 'silent'), 1)
  const { rows } = await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const startMs = performance.now()
  const page = { order, after: undefined, limit: 201 }
  let isDone = false
  const asked = listRuns(pool, { entity: 'hostile', project, filter }, page)
    .then(
      () => 'listed',
      (error: Error) => error.message,
    )
    .finally(() => (isDone = true))
  let bytes = 0
  while (!isDone) {
    bytes = Math.max(bytes, await readMemory(rows[0]!.pid, 'RssAnon'))
    await delay(2)
  }
  const outcome = await asked
  const ms = performance.now() - startMs
  await pool.end()
  return { bytes, ms, outcome }
}

test.each(Object.keys(documents).flatMap((name) => [`${name} 1`, `${name} 20`].map((project) => [project])))(
  'filters of runs with large configs take little memory of Postgres: %s',
  { timeout: 600_000 },
  async (project) => {
    for (const [name, asked] of Object.entries(filters)) {
      const { bytes, ms, outcome } = await measure(project, asked)
      process.stdout.write(
        `${project}, ${name}: ${Math.round(bytes / mib)} MiB (goal ${goal.bytes / mib}), ` +
          `${Math.round(ms)} ms (goal ${goal.ms}): ${outcome}\n`,
      )
      expect(bytes).toBeLessThan(goal.bytes)
      // A busy machine makes all slower.
      expect(ms).toBeLessThan(10 * goal.ms)
    }
  },
)
