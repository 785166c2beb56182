/**
 * Reads the state of a screen from its address. All values are texts, so that people can read and write addresses. A
 * name that is repeated is a list.
 */
export function parseSearch(text: string): Record<string, string> {
  const params = new URLSearchParams(text)
  return Object.fromEntries([...params.keys()].map((name) => [name, params.getAll(name).join(',')]))
}

/** Writes the values that are set, in a constant order, so that one state has one address. */
export function writeSearch(search: Record<string, unknown>): string {
  const set = Object.entries(search).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(
    set.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  // Commas separate the members of lists and are allowed in a query.
  return text === '' ? '' : `?${text.replaceAll('%2C', ',')}`
}

/** Reads a list of texts, without repetitions. */
export function readList(text: string | undefined, most = Infinity): string[] {
  if (text === undefined) return []
  return [...new Set(text.split(',').filter((item) => item !== ''))].slice(0, most)
}

/** Writes a list. An empty list leaves the address. */
export function writeList(items: readonly string[]): string | undefined {
  return items.length === 0 ? undefined : items.join(',')
}

/** Adds an item of a list, or removes it. */
export function toggle(items: readonly string[], item: string): string[] {
  return items.includes(item) ? items.filter((each) => each !== item) : [...items, item]
}

/** Reads a whole number of at most so many digits. Times in milliseconds have 13. */
export function readInteger(text: string | undefined, maxDigits = 10): number | undefined {
  return text !== undefined && /^\d+$/.test(text) && text.length <= maxDigits ? Number(text) : undefined
}

/** Reads one of these values; any other text is the first of them. */
export function readChoice<T extends string>(text: string | undefined, choices: readonly [T, ...T[]]): T {
  return choices.find((choice) => choice === text) ?? choices[0]
}

export interface Order {
  column: string
  descending: boolean
}

/** Reads `column` or `-column`. */
export function readOrder(text: string | undefined, columns: readonly string[], defaultOrder: Order): Order {
  const column = text?.replace(/^-/, '')
  return column !== undefined && columns.includes(column) ? { column, descending: text!.startsWith('-') } : defaultOrder
}

/** The order after a click on a column's head: descending first, then ascending. */
export function nextOrder(order: Order, column: string): string {
  return order.column === column && order.descending ? column : `-${column}`
}

/** Only addresses of this console may follow a login. */
export function readNext(text: string | undefined): string {
  return text !== undefined && /^\/(?![/\\])[^\s\\]*$/.test(text) && !text.startsWith('/login') ? text : '/'
}
