import { readLines, readTail } from '../../../db/runs/read-lines.ts'
import type { RunRow } from '../../../db/runs/table.ts'
import { findInteger, findText } from '../graphql/arguments.ts'
import type { GraphqlObject } from '../graphql/values.ts'
import { presentPageInfo } from '../graphql/page-info.ts'
import type { Pool } from '../../../db/pool.ts'

const defaultLines = 1_000
const maxLines = 10_000

/** One line of a run's output. */
export interface OutputLine {
  number: number
  timestamp: string | null
  level: string
  content: string
}

// SDKs write [ERROR ]TIME TEXT.
const written = /^(ERROR )?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?) ([\s\S]*)$/

/** Reads a line as SDKs write it. */
export function readOutputLine({ line, text }: { line: number; text: string }): OutputLine {
  const [, error, timestamp, content] = written.exec(text) ?? []
  if (timestamp === undefined) return { number: line, timestamp: null, level: '', content: text.replace(/\n$/, '') }
  return { number: line, timestamp, level: error ? 'error' : '', content: content!.replace(/\n$/, '') }
}

/** The output of a run. */
export function outputFields(pool: Pool, run: RunRow): GraphqlObject {
  return {
    logLineCount: run.outputLines,
    logLines: async (args) => {
      const last = findInteger(args, 'last')
      const limit = Math.min(Math.max(last ?? findInteger(args, 'first') ?? defaultLines, 1), maxLines)
      const after = Number(findText(args, 'after') ?? -1)
      const page = { run: run.number, stream: 'output' as const, after: Number.isSafeInteger(after) ? after : -1 }
      const rows =
        last === undefined
          ? await readLines(pool, { ...page, limit: limit + 1 })
          : await readTail(pool, { run: run.number, stream: 'output', lines: limit })
      const shown = rows.slice(0, limit).map(readOutputLine)
      return {
        edges: shown.map((line) => ({
          cursor: String(line.number),
          node: { id: String(line.number), ...line, label: '', line: line.content },
        })),
        pageInfo: presentPageInfo(rows.length > limit, shown.at(-1)?.number),
      }
    },
  }
}
