import { once } from 'node:events'
import { from as copyFrom } from 'pg-copy-streams'
import { withTransaction, type Pool } from '../pool.ts'
import { BinaryRows } from './binary-copy.ts'
import { writtenColumns, type CallRow } from './call-rows.ts'
import { mergeCalls } from './merge-calls.ts'
import { countStored, measureCalls } from './stored-bytes.ts'
import { retryDuringPartitionCreation } from './create-partitions.ts'

const columns = writtenColumns.map(({ name }) => name).join(', ')

const uniqueViolation = '23505'

/**
 * Writes calls with distinct ids, ordered by id. New calls are inserted by COPY, which is the fastest way. If one of
 * them exists already, all of them are merged instead.
 */
export async function writeCalls(pool: Pool, rows: CallRow[]): Promise<void> {
  const [begun, others] = [rows.filter(({ start }) => start), rows.filter(({ start }) => !start)]
  if (begun.length > 0) await copyOrMerge(pool, begun)
  if (others.length > 0) await mergeCalls(pool, others)
}

async function copyOrMerge(pool: Pool, rows: CallRow[]): Promise<void> {
  try {
    await retryDuringPartitionCreation(() => copyCalls(pool, rows))
  } catch (error) {
    if ((error as { code?: unknown }).code !== uniqueViolation) throw error
    await mergeCalls(pool, rows)
  }
}

async function copyCalls(pool: Pool, rows: CallRow[]): Promise<void> {
  const encoded = encodeCalls(rows)
  await withTransaction(pool, async (connection) => {
    const stream = connection.query(copyFrom(`COPY tracing.calls (${columns}) FROM STDIN (FORMAT binary)`))
    stream.end(encoded)
    await once(stream, 'finish')
    await countStored(connection, measureCalls(rows))
  })
}

function encodeCalls(rows: CallRow[]): Buffer {
  const binary = new BinaryRows()
  for (const row of rows) {
    binary.row(writtenColumns.length)
    for (const { type, read } of writtenColumns) binary.value(type, read(row))
  }
  return binary.finish()
}
