import { setTimeout as delay } from 'node:timers/promises'
import { withTransaction, type Connection, type Pool } from '../pool.ts'

// While this waits for a lock on the table of calls, all others wait too. It is enough if the next run succeeds.
const lockLimit = "SET LOCAL lock_timeout = '2s'"
// This includes the wait for the lock. Calls that take longer to move stay where they are.
const moveLimit = "SET LOCAL statement_timeout = '3s'"
// Nobody waits while this checks the calls in the default partition.
const lookMs = 600_000

const others = 'tracing.calls_of_other_weeks'
const checkViolation = '23514'
// Somebody holds the table, or there is too much to move.
const cannotNow = new Set(['55P03', '57014', checkViolation])
const pauseMs = 500
const maxPauses = 20

/**
 * Creates the partitions of this week and the next ones. Returns the weeks whose partitions could not be created this
 * time.
 */
export async function createPartitions(pool: Pool, weeksAhead: number): Promise<number[]> {
  const { rows } = await pool.query<{ week: number; used: boolean }>(
    `SELECT week, EXISTS (SELECT FROM ${others} o WHERE o.week = wanted.week) AS used
     FROM (SELECT tracing.this_week() + n AS week FROM generate_series(0, $1::int) AS n) AS wanted
     WHERE to_regclass('tracing.calls_w' || week) IS NULL`,
    [weeksAhead],
  )
  const left: number[] = []
  for (const { week, used } of rows) {
    try {
      await (used ? moveWeek : makeWeek)(pool, week)
    } catch (error) {
      if (!cannotNow.has((error as { code?: string }).code ?? '')) throw error
      left.push(week)
    }
  }
  return left
}

/** Repeats a write while a partition that it writes to is being created. */
export async function retryDuringPartitionCreation<T>(write: () => Promise<T>): Promise<T> {
  for (let pauses = 0; ; pauses++) {
    try {
      return await write()
    } catch (error) {
      if ((error as { code?: string }).code !== checkViolation || pauses === maxPauses) throw error
      await delay(pauseMs)
    }
  }
}

async function moveWeek(pool: Pool, week: number): Promise<void> {
  await withTransaction(pool, async (connection) => {
    await connection.query(lockLimit)
    await connection.query(moveLimit)
    await connection.query('SELECT tracing.add_week($1)', [week])
  })
}

/**
 * Postgres checks that no row in the default partition belongs to a new partition. It locks everything during the
 * check, unless a constraint proves the same. Validating that constraint blocks no writers. Only writers of this week
 * wait.
 */
async function makeWeek(pool: Pool, week: number): Promise<void> {
  const constraint = `not_week_${week}`
  const forget = `ALTER TABLE ${others} DROP CONSTRAINT IF EXISTS ${constraint}`
  const change = (...statements: string[]) =>
    withTransaction(pool, async (connection) => {
      for (const statement of [lockLimit, ...statements]) await connection.query(statement)
    })
  try {
    await change(
      forget,
      `ALTER TABLE ${others} ADD CONSTRAINT ${constraint} CHECK (week <> ${week}::smallint) NOT VALID`,
    )
    await withTransaction(pool, (connection) => lookThrough(connection, constraint))
    await change(
      `CREATE TABLE tracing.calls_w${week} (LIKE tracing.calls INCLUDING DEFAULTS)`,
      `ALTER TABLE tracing.calls ATTACH PARTITION tracing.calls_w${week} FOR VALUES IN (${week})`,
      forget,
    )
  } catch (error) {
    await change(forget)
    throw error
  }
}

async function lookThrough(connection: Connection, constraint: string): Promise<void> {
  await connection.query(`SET LOCAL statement_timeout = ${lookMs}`)
  const query = { text: `ALTER TABLE ${others} VALIDATE CONSTRAINT ${constraint}`, query_timeout: lookMs }
  await connection.query(query)
}
