/** Of one statement. Postgres makes some hundred bytes of each of these; what programs write has some hundred of them. */
const maxSqlLength = 256 * 1024

/** A text that is part of a statement. @throws {HttpError} 400 for one that no statement has room for */
export function checkSize(sql: string): string {
  if (sql.length > maxSqlLength) throw tooLong(maxSqlLength)
  return sql
}

/**
 * The texts of several parts that stand in one statement. Nothing more is written than fits into it.
 *
 * @throws {HttpError} 400 when they are too long together
 */
export function writeParts<T>(items: readonly T[], write: (item: T) => string, longest = maxSqlLength): string[] {
  let size = 0
  return items.map((item) => {
    const sql = write(item)
    size += sql.length
    if (size > longest) throw tooLong(longest)
    return sql
  })
}

function tooLong(longest: number) {
  const limit = `${longest / 1024} KiB of SQL`
  return badRequest(
    `A part of the query compiles to more than ${limit}. Use fewer operands and fields, or $in with a list.`,
  )
}
import { badRequest } from '../errors.ts'
