import { once } from 'node:events'
import { from as copyFrom } from 'pg-copy-streams'
import { withTransaction, type Pool } from '../pool.ts'
import { BinaryRows } from './binary-copy.ts'
import type { CallRow } from './call-rows.ts'
import { mergeCalls } from './merge-calls.ts'
import { countStored, measureCalls } from './stored-bytes.ts'
import { retryDuringPartitionCreation } from './create-partitions.ts'

const columns = [
  'week, project, id, trace_id, parent_id, thread_id, turn_id, op_name, display_name, started_at, attributes, inputs',
  'otel_dump, input_refs, wb_user_id, wb_run_id, wb_run_step, ended_at, exception, output, summary, output_refs',
  'descendant_errors, wb_run_step_end, start_size, end_size, spilled',
].join(', ')
const columnCount = columns.split(',').length

const uniqueViolation = '23505'

/**
 * Writes calls of which each id is there once, in the order of their ids. New ones go in by COPY, which is the fastest way
 * that there is; when one of them is there already, all of them are merged into what is there.
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

/** The rows as a binary COPY takes them. */
export function encodeCalls(rows: CallRow[]): Buffer {
  const binary = new BinaryRows()
  for (const row of rows) writeRow(binary, row)
  return binary.finish()
}

function writeRow(binary: BinaryRows, row: CallRow): void {
  binary.row(columnCount)
  binary.smallint(row.week)
  binary.int(row.project)
  binary.text(row.id)
  writeStart(binary, row)
  writeEnd(binary, row)
  binary.int(row.startSize)
  binary.int(row.endSize)
  binary.jsonb(row.spilled)
}

function writeStart(binary: BinaryRows, { start, payloads }: CallRow): void {
  for (const text of [start?.traceId, start?.parentId, start?.threadId, start?.turnId]) binary.text(text)
  binary.text(start?.opName)
  binary.text(start?.displayName)
  binary.instant(start?.startedAt)
  for (const payload of [payloads.attributes, payloads.inputs, payloads.otel_dump]) binary.bytes(payload)
  binary.texts(start?.inputRefs)
  binary.text(start?.wbUserId)
  binary.text(start?.wbRunId)
  binary.bigint(start?.wbRunStep)
}

function writeEnd(binary: BinaryRows, { end, payloads }: CallRow): void {
  binary.instant(end?.endedAt)
  binary.text(end?.exception)
  binary.bytes(payloads.output)
  binary.bytes(payloads.summary)
  binary.texts(end?.outputRefs)
  binary.boolean(end?.descendantErrors ?? false)
  binary.bigint(end?.wbRunStepEnd)
}
