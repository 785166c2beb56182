import { countRunFiles, listRunFiles, type RunFileRow } from '../../../db/runs/files.ts'
import type { RunRow } from '../../../db/runs/table.ts'
import type { Pool } from '../../../db/pool.ts'
import { findInteger, findText, readTexts } from '../graphql/arguments.ts'
import type { GraphqlContext } from '../graphql/resource.ts'
import type { Arguments, GraphqlObject } from '../graphql/values.ts'
import { presentPageInfo } from '../graphql/page-info.ts'
import { targetOf } from './paths.ts'

const defaultFiles = 50
const maxFiles = 1_000
const maxNames = 10_000
const maxPatternLength = 1_024

/** The files of a run. */
export function runFilesFields(pool: Pool, context: GraphqlContext, run: RunRow): GraphqlObject {
  return {
    fileCount: (args) => countRunFiles(pool, readSelection(run, args)),
    files: async (args) => {
      const limit = Math.min(Math.max(findInteger(args, 'first') ?? defaultFiles, 1), maxFiles)
      const after = findText(args, 'after')
      const rows = await listRunFiles(pool, readSelection(run, args), { after, limit: limit + 1 })
      const shown = rows.slice(0, limit)
      return {
        edges: shown.map((file) => ({ cursor: file.path, node: presentRunFile(context, run, file) })),
        pageInfo: presentPageInfo(rows.length > limit, shown.at(-1)?.path),
      }
    },
  }
}

function readSelection(run: RunRow, args: Arguments) {
  const names = readTexts(args, 'names', maxNames)
  // In a LIKE pattern, a backslash would need a character after it.
  const pattern = findText(args, 'pattern')?.slice(0, maxPatternLength).replaceAll('\\', '\\\\')
  return { run: run.number, paths: names.length > 0 ? names : undefined, pattern }
}

function presentRunFile(context: GraphqlContext, run: RunRow, file: RunFileRow): GraphqlObject {
  const link = (method: 'GET' | 'PUT') => context.signLink(targetOf(method, run, file.path))
  return {
    __typename: 'File',
    id: file.id,
    name: file.path,
    url: ({ upload }) => link(upload === true ? 'PUT' : 'GET'),
    directUrl: () => link('GET'),
    sizeBytes: file.size,
    mimetype: 'application/octet-stream',
    updatedAt: file.updatedAt.toISOString(),
    md5: Buffer.from(file.md5, 'hex').toString('base64'),
  }
}
