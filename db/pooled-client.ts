import pg from 'pg'
import { countRows } from './count-rows.ts'

/**
 * A client for a pooler in transaction mode. The pooler may run each transaction on another connection of Postgres, which
 * does not know the statements that were prepared by name.
 */
export class PooledClient extends pg.Client {
  // It passes on all arguments, of which the types name only one form.
  override query = ((config: unknown, ...rest: [unknown[]?]) =>
    super.query(countRows(this, withoutName(config)) as string, ...rest)) as pg.Client['query']
}

/** Objects that send themselves, such as streams, have no text to prepare. */
function withoutName(config: unknown): unknown {
  if (typeof config !== 'object' || config === null || 'submit' in config) return config
  return { ...config, name: undefined }
}
