import type { Pool } from '../../../db/pool.ts'
import { selectRows, type RowSelection } from '../../../db/tracing/select-rows.ts'
import { writeAnswerRow, type AnswerColumn } from './answer-columns.ts'

/** Streams the rows of a query as JSON texts, in bounded memory. */
export async function* answerRows(
  pool: Pool,
  columns: readonly AnswerColumn[],
  selection: Omit<RowSelection, 'columns'>,
): AsyncGenerator<string> {
  const chunks = selectRows(pool, { ...selection, columns: columns.map(({ sql }) => sql) })
  for await (const chunk of chunks) for (const row of chunk) yield writeAnswerRow(columns, row)
}
