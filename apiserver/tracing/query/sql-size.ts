/**
 * The characters of one statement. Postgres uses some hundred bytes of memory for each. Typical conditions have some
 * hundred characters.
 */
const maxSqlLength = 256 * 1024

/** Checks the size of a part of a statement. @throws {HttpError} 400 when it is too long for a statement */
export function checkSize(sql: string): string {
  if (sql.length > maxSqlLength) throw tooLong(maxSqlLength)
  return sql
}

/**
 * Writes the parts of one statement. It stops as soon as they are too long.
 *
 * @throws {HttpError} 400 when the parts are too long together
 */
export function writeParts<T>(items: readonly T[], write: (item: T) => string, maxLength = maxSqlLength): string[] {
  let size = 0
  return items.map((item) => {
    const sql = write(item)
    size += sql.length
    if (size > maxLength) throw tooLong(maxLength)
    return sql
  })
}

function tooLong(maxLength: number) {
  const limit = `${maxLength / 1024} KiB of SQL`
  return badRequest(
    `A part of the query compiles to more than ${limit}. Use fewer operands and fields, or $in with a list.`,
  )
}
import { badRequest } from '../errors.ts'
