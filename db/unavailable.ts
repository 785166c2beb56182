import { explainConnectionError } from './explain-connection-error.ts'

// ENOENT: the server does not run, so its socket file is missing.
const networkCodes = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'ENOENT'])

const networkCalls = /^(connect|read|write|getaddrinfo)$/

// Connection errors (08), shutdown or start (57P), too slow under load or behind a lock (57014, 55P03), idle too long
// in a transaction (25P03), conflicts with others (40P01, 40001), too many connections (53300), disk full (53100), read
// only (25006), a password that is being changed (28P01), and a database that is not migrated yet, or between two migrations (3F000, 42P01, 42703, 42883).
const stateCodes = /^(08...|57P0[123]|28P01|57014|40P01|40001|55P03|53300|53100|25006|25P03|3F000|42P01|42703|42883)$/

const driverMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/

/** Postgres could not be used for so long that what was asked must begin anew. */
export class DatabaseUnavailable extends Error {}

/** Whether a query failed because Postgres cannot be used for now, and not because of the query. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof DatabaseUnavailable) return true
  const { code = '', syscall = 'connect' } = error as { code?: string; syscall?: string }
  if (networkCodes.has(code)) return networkCalls.test(syscall)
  return stateCodes.test(code) || driverMessages.test(error.message) || explainConnectionError(error) !== undefined
}

/** Whether Postgres stopped a slow statement: by the pool's limit, or by a person. */
export function isStatementStopped(error: unknown): boolean {
  return error instanceof Error && (error as { code?: string }).code === '57014'
}
