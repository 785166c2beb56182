/** The parameters of one SQL statement: what clients send goes in here and never into its text. */
export class SqlParams {
  readonly values: unknown[] = []

  /** Adds one and gives its place, such as `$3`. */
  add(value: unknown): string {
    this.values.push(value)
    return `$${this.values.length}`
  }
}
