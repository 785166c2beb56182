/** How a request is sent. With `left`, it is sent completely, and the client disconnects at once. */
export type Delivery = 'whole' | 'gzip' | 'slow' | 'cut' | 'left'

/** A request of a hostile or careless client. */
export interface Attack {
  /** What it tries. Shown when it succeeds. */
  name: string
  /** The operation that it calls, as the document names it. */
  operation: string
  role: 'read' | 'member'
  method: string
  path: string
  headers?: Record<string, string>
  /** Built when it is sent, because many bodies are large. */
  body?: () => Buffer
  delivery: Delivery
  /** A harmless request to the same operation, with a body of the same size. */
  harmless: (bytes: number) => Buffer
}

/** The data for attacks: the attacker's own resources. */
export interface Target {
  url: string
  keys: Record<Attack['role'], string>
  entity: string
  project: string
  modelId: string
  /** A model that chats may name. */
  chatModel: string
}

/** A JSON text as bytes. */
export const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

/** A body with one text that is long enough for this many bytes. */
export function padded(bytes: number, write: (text: string) => Buffer): Buffer {
  return write('a'.repeat(Math.max(1, bytes - write('').length)))
}

export const list = (count: number, item: (index: number) => unknown): unknown[] =>
  Array.from({ length: count }, (_, at) => item(at))

/** The facts of one attack that other attacks on its operation do not have. */
export type Written = Pick<Attack, 'name'> & Partial<Attack> & { body: () => Buffer }

/** Attacks on one operation. */
export function post(path: string, harmless: Attack['harmless'], attacks: Written[]): Attack[] {
  return attacks.map((attack) => ({
    operation: `POST ${path}`,
    role: 'read',
    method: 'POST',
    path,
    delivery: 'whole',
    harmless,
    ...attack,
  }))
}
