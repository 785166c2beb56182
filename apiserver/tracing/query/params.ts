/** The parameters of one SQL statement: what clients send goes in here and never into its text. */
export class SqlParams {
  readonly values: unknown[] = []

  /** Adds one and gives its place, such as `$3`. */
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
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
      if (!places.has(index)) places.set(index, this.add(added[index]))
      return places.get(index)!
    })
  }
}
