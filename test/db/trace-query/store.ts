import type { Pool } from '../../../db/pool.ts'
import { writeTree, type Tree } from './documents.ts'
import { objects, type CallRow } from './rows.ts'

/** Stores calls with their feedback, and the objects, in the database. */
export async function storeCalls(pool: Pool, project: number, rows: CallRow[]): Promise<void> {
  for (const row of rows) {
    await storeCall(pool, project, row)
    for (const [index, feedback] of row.feedback.entries()) {
      await pool.query(
        `INSERT INTO tracing.feedback (project, id, weave_ref, call_id, feedback_type, payload, wb_user_id, created_at, runnable_ref)
         VALUES ($1, $2, 'ref', $3, $4, $5, 'key', $6, $7)`,
        [
          project,
          `${row.id}-${index}`,
          row.id,
          feedback.type,
          writeTree(feedback.payload),
          new Date(index * 1_000),
          feedback.runnableRef,
        ],
      )
    }
  }
  for (const [name, value] of Object.entries(objects)) {
    await pool.query(
      `INSERT INTO tracing.object_versions
         (project, object_id, kind, digest, version_index, publication, val, size, wb_user_id, created_at)
       VALUES ($1, $2, 'object', $3, 0, 0, $4, 0, 'key', now())`,
      [project, ...name.split(':'), writeTree(value)],
    )
  }
}

async function storeCall(pool: Pool, project: number, row: CallRow): Promise<void> {
  const values = {
    week: -1,
    project,
    id: row.id,
    trace_id: row.traceId,
    parent_id: row.parentId,
    thread_id: row.threadId,
    op_name: row.opName,
    display_name: row.displayName,
    exception: row.exception,
    wb_run_step: row.wbRunStep,
    started_at: toInstant(row.startedAt),
    ended_at: row.endedAt === null ? null : toInstant(row.endedAt),
    descendant_errors: row.descendantErrors,
    attributes: toJson(row.attributes),
    inputs: toJson(row.inputs),
    output: toJson(row.output),
    summary: toJson(row.summary),
    input_refs: row.inputRefs,
  }
  const placeholders = Object.keys(values).map((_, index) => `$${index + 1}`)
  const columns = Object.keys(values).join(', ')
  await pool.query(`INSERT INTO tracing.calls (${columns}) VALUES (${placeholders.join(', ')})`, Object.values(values))
}

function toJson(tree: Tree | undefined): string | null {
  return tree === undefined ? null : writeTree(tree)
}

function toInstant(micros: number): string {
  const seconds = Math.floor(micros / 1e6)
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}.${String(micros - seconds * 1e6).padStart(6, '0')}Z`
}
