import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { percentile } from '../bench/statistics.ts'
import { useApiServerProcess } from '../support/api-server.ts'
import type { Rest } from '../support/rest.ts'

const own = useApiServerProcess()
const goalMs = 300
const rows = 500_000
const attackers = 14
const attackMs = 15_000

/** Usage that takes Postgres a second to add up. */
async function useMuch(entity: string): Promise<void> {
  const { pool } = own.database
  for (let from = 0; from < rows; from += 250_000)
    await pool.query(
      `INSERT INTO training.usage (entity, hour, base_model, project, requests)
       SELECT $1, '2026-01-01T00:00Z'::timestamptz + make_interval(hours => (at % 4000)::integer), 'base', 'p' || at, 1
       FROM generate_series($2::bigint, $2 + 249999) AS at`,
      [entity, from],
    )
  await pool.query('ANALYZE training.usage')
}

interface Answers {
  statuses: Record<number, number>
  latenciesMs: number[]
}

/** Sends a request again and again until the signal. */
async function repeat(rest: Rest, path: string, signal: AbortSignal, answers: Answers): Promise<void> {
  while (!signal.aborted) {
    const startMs = performance.now()
    const { status } = await rest.send('GET', path)
    answers.latenciesMs.push(performance.now() - startMs)
    answers.statuses[status] = (answers.statuses[status] ?? 0) + 1
    await delay(20)
  }
}

test('slow reads of one key do not keep the database from others', { timeout: 600_000 }, async () => {
  const [busy, calm] = [await own.join('busy'), await own.join('calm')]
  await useMuch('busy')
  const signal = AbortSignal.timeout(attackMs)
  const [attack, neighbour]: [Answers, Answers] = [
    { statuses: {}, latenciesMs: [] },
    { statuses: {}, latenciesMs: [] },
  ]
  const usage = '/v1/preview/usage?from=2026-01-01T00:00:00Z&to=2026-12-31T00:00:00Z&group_by=hour,model'
  await Promise.all([
    ...Array.from({ length: attackers }, () => repeat(busy, usage, signal, attack)),
    repeat(calm, '/v1/preview/runs', signal, neighbour),
  ])
  const p99 = percentile(neighbour.latenciesMs, 0.99)
  process.stdout.write(
    `beside ${attackers} slow reads (median ${Math.round(percentile(attack.latenciesMs, 0.5))} ms, ` +
      `${JSON.stringify(attack.statuses)}): GET /runs p99 ${Math.round(p99)} ms (goal ${goalMs}), ` +
      `${JSON.stringify(neighbour.statuses)}\n`,
  )
  expect(attack.statuses[200]).toBeGreaterThan(0)
  expect(percentile(attack.latenciesMs, 0.5)).toBeGreaterThan(1_000)
  expect(neighbour.statuses).toEqual({ 200: neighbour.latenciesMs.length })
  // A busy machine makes all slower. Without turns, it takes seconds.
  expect(p99).toBeLessThan(10 * goalMs)
})
