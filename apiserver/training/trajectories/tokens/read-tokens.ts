import { zstdDecompressSync } from 'node:zlib'
import { parquetMetadataAsync, parquetRead, type AsyncBuffer, type FileMetaData } from 'hyparquet'

// The columns of the file that say whose a token is, and those that are read of the tokens (docs/token-statistics.md).
const owners = ['group_index', 'trajectory_index'] as const
const integers = ['gradient_step', 'history_index', 'position', 'token_id'] as const
const numbers = ['old_logprob', 'new_logprob', 'ratio', 'coefficient', 'entropy'] as const
export const flags = ['masked', 'clipped_low', 'clipped_high', 'dropped'] as const
export const numberColumns = [...integers, ...numbers] as const

export type TokenColumns = Record<(typeof numberColumns)[number], (number | null)[]> &
  Record<(typeof flags)[number], boolean[]>

/** A page of a trajectory's tokens, and how many it has. */
interface Tokens {
  total: number
  columns: TokenColumns
}

export const noTokens: Tokens = {
  total: 0,
  columns: Object.fromEntries([...numberColumns, ...flags].map((name) => [name, []])) as unknown as TokenColumns,
}

/** Rows of the file that follow each other. `end` is the row after the last. */
interface Rows {
  start: number
  end: number
}

// A footer names 14 columns of each row group, and a row group has 131,072 tokens.
const footerBytes = 64 * 1024
const compressors = {
  ZSTD: (bytes: Uint8Array, size: number) => zstdDecompressSync(bytes, { maxOutputLength: size }),
}

/**
 * Reads the tokens of one trajectory from a file of token statistics: `limit` rows from its row `from` on, and how many
 * it has. A column of a row group is in memory at a time. Between two of them other requests run.
 */
export async function readTokens(
  file: AsyncBuffer,
  trajectory: { group: number; trajectory: number },
  { from, limit }: { from: number; limit: number },
): Promise<Tokens> {
  const metadata = await parquetMetadataAsync(file, { initialFetchSize: footerBytes })
  const runs = await findRows({ file, metadata }, [trajectory.group, trajectory.trajectory])
  const chosen = cutRows(runs, from, limit)
  const columns: Record<string, unknown[]> = {}
  for (const name of [...numberColumns, ...flags]) {
    columns[name] = []
    for (const rows of chosen) columns[name] = columns[name].concat(await readColumn({ file, metadata }, name, rows))
  }
  return { total: runs.reduce((sum, { start, end }) => sum + end - start, 0), columns: columns as TokenColumns }
}

interface OpenFile {
  file: AsyncBuffer
  metadata: FileMetaData
}

/** Finds the rows of a trajectory, of any history and gradient step. */
async function findRows(open: OpenFile, wanted: readonly number[]): Promise<Rows[]> {
  const runs: Rows[] = []
  let start = 0
  for (const group of open.metadata.row_groups) {
    const end = start + Number(group.num_rows)
    if (mayHave(group, wanted)) await addRows(runs, open, { start, end }, wanted)
    start = end
  }
  return runs
}

async function addRows(runs: Rows[], open: OpenFile, rows: Rows, wanted: readonly number[]): Promise<void> {
  const groups = await readColumn(open, owners[0], rows)
  const trajectories = await readColumn(open, owners[1], rows)
  for (let index = 0; index < groups.length; index++)
    if (groups[index] === wanted[0] && trajectories[index] === wanted[1]) addRow(runs, rows.start + index)
}

/** Whether the least and the greatest values of a row group include a trajectory's. */
function mayHave({ columns }: FileMetaData['row_groups'][number], wanted: readonly number[]): boolean {
  return owners.every((name, index) => {
    const about = columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === name)?.meta_data?.statistics
    const { min_value: least, max_value: most } = about ?? {}
    return typeof least !== 'number' || typeof most !== 'number' || (least <= wanted[index]! && wanted[index]! <= most)
  })
}

function addRow(runs: Rows[], row: number): void {
  const last = runs.at(-1)
  if (last?.end === row) last.end++
  else runs.push({ start: row, end: row + 1 })
}

/** `limit` rows of all from the row `from` on. */
export function cutRows(runs: readonly Rows[], from: number, limit: number): Rows[] {
  let skip = from
  let rest = limit
  return runs.flatMap(({ start, end }) => {
    const first = Math.min(end, start + skip)
    skip -= first - start
    const last = Math.min(end, first + rest)
    rest -= last - first
    return last > first ? [{ start: first, end: last }] : []
  })
}

/** The values of a column. The reader gives all rows of the pages that have them. */
async function readColumn(open: OpenFile, name: string, { start, end }: Rows): Promise<unknown[]> {
  const values: unknown[] = Array.from({ length: end - start }, () => null)
  await parquetRead({
    ...open,
    compressors,
    columns: [name],
    rowStart: start,
    rowEnd: end,
    onChunk: ({ columnData, rowStart }) => {
      const last = Math.min(end, rowStart + columnData.length)
      for (let row = Math.max(start, rowStart); row < last; row++)
        values[row - start] = columnData[row - rowStart] ?? null
    },
  })
  return values
}
