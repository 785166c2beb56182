import { afterAll } from 'vitest'
import { createPool } from '../../db/pool.ts'
import { createLogger } from '../../lib/log.ts'
import { ModelRows } from './model-rows.ts'
import type { ApiStack } from './services.ts'

/** Rows of models in the stack's database, until the tests of the file or the group have ended. */
export function useModelRows(stack: Pick<ApiStack, 'databaseUrl' | 'artifacts'>): ModelRows {
  const pool = createPool(stack.databaseUrl, createLogger('test', 'silent'), 4)
  afterAll(() => pool.end())
  return new ModelRows(pool, stack.artifacts)
}
