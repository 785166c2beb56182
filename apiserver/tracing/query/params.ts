// Postgres keeps a copy for each week of calls. A thousand ids have 64 KB.
const maxBytes = 1024 * 1024

/** The parameters of one SQL statement. Values from clients are always parameters and never SQL text. */
export class SqlParams {
  readonly values: unknown[] = []
  #bytes = 0

  /** The approximate size of all values. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Adds a value and returns its placeholder, such as `$3`. @throws {HttpError} 400 when the values together are too
   * large
   */
  add(value: unknown): string {
    this.#bytes += measure(value)
    if (this.#bytes > maxBytes) throw tooMuch()
    return this.#push(value)
  }

  /** Removes parameters that `write` added and its SQL does not use: Postgres rejects unused parameters. */
  keepUsed(write: () => string): string {
    const before = this.values.length
    const written = write()
    const added = this.values.splice(before)
    const renumbered = new Map<number, string>()
    return written.replaceAll(/\$(\d+)/g, (placeholder, digits: string) => {
      const index = Number(digits) - before - 1
      if (index < 0) return placeholder
      if (!renumbered.has(index)) renumbered.set(index, this.#push(added[index]))
      return renumbered.get(index)!
    })
  }

  #push(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}

/** Checks lists of names that become parameters unchanged. @throws {HttpError} 400 when they are too large together */
export function checkNames(...lists: (readonly string[] | null | undefined)[]): void {
  if (measure(lists) > maxBytes) throw tooMuch()
}

function tooMuch() {
  const limit = `${maxBytes / 1024 / 1024} MiB`
  return badRequest(`The texts, lists and paths of a query are larger than ${limit} together. Split the query.`)
}

/** The approximate size of a value in a statement. */
function measure(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  return Array.isArray(value) ? value.reduce<number>((sum, item) => sum + 8 + measure(item), 0) : 8
}
import { badRequest } from '../errors.ts'
