import { expect, test } from 'vitest'
import { createPool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { useStack } from '../support/stack.ts'

test('the stack has the version of Postgres that this run is for', async () => {
  const pool = createPool(useStack().databaseUrl, createLogger('test', 'silent'), 1)
  const { rows } = await pool.query<{ server_version: string }>('SHOW server_version')
  await pool.end()
  expect(rows[0]!.server_version).toMatch(process.env['TRAINYARD_POSTGRES_BIN'] === undefined ? /^18\./ : /^15\./)
})
