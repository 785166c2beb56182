// Postgres keeps a copy for each week of calls. A thousand ids have 64 KB.
const maxBytes = 1024 * 1024

/** The parameters of one SQL statement: what clients send goes in here and never into its text. */
export class SqlParams {
  readonly values: unknown[] = []
  #bytes = 0

  /** About how large all that was added is. */
  get bytes(): number {
    return this.#bytes
  }

  /** Adds one and gives its place, such as `$3`. @throws {HttpError} 400 when all of them together are too large */
  add(value: unknown): string {
    this.#bytes += measure(value)
    if (this.#bytes > maxBytes) throw tooMuch()
    return this.#push(value)
  }

  /** Leaves out what was added while a text was written that does not name it: Postgres takes no idle parameters. */
  keepUsed(write: () => string): string {
    const before = this.values.length
    const written = write()
    const added = this.values.splice(before)
    const places = new Map<number, string>()
    return written.replaceAll(/\$(\d+)/g, (place, digits: string) => {
      const index = Number(digits) - before - 1
      if (index < 0) return place
      if (!places.has(index)) places.set(index, this.#push(added[index]))
      return places.get(index)!
    })
  }

  #push(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/** Lists of names that go into a statement as they are. @throws {HttpError} 400 when they are too large together */
export function checkNames(...lists: (readonly string[] | null | undefined)[]): void {
  if (measure(lists) > maxBytes) throw tooMuch()
}

function tooMuch() {
  const limit = `${maxBytes / 1024 / 1024} MiB`
  return badRequest(`The texts, lists and paths of a query are larger than ${limit} together. Split the query.`)
}

/** About how many bytes a value has in a statement. */
function measure(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  return Array.isArray(value) ? value.reduce<number>((sum, item) => sum + 8 + measure(item), 0) : 8
}
import { badRequest } from '../errors.ts'
