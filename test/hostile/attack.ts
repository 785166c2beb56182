/** How a request is sent: `left` is whole, and then the client leaves at once. */
export type Delivery = 'whole' | 'gzip' | 'slow' | 'cut' | 'left'

/** A request of somebody who means harm, or of somebody who is careless. */
export interface Attack {
  /** What it tries; shown when it succeeds. */
  name: string
  /** The operation that it goes to, as the document has it. */
  operation: string
  role: 'read' | 'member'
  method: string
  path: string
  headers?: Record<string, string>
  /** Written when it is sent: many of them are large. */
  body?: () => Buffer
  delivery: Delivery
  /** A request without harm to the same operation, with a body of the same size. */
  harmless: (bytes: number) => Buffer
}

/** What attacks are made of: where the attacker has things of its own. */
export interface Target {
  url: string
  keys: Record<Attack['role'], string>
  entity: string
  project: string
  modelId: string
  /** A model that chats may name. */
  chatModel: string
}

/** A text of JSON in bytes. */
export const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

/** A body with one long text, as long as it takes to have so many bytes. */
export function padded(bytes: number, write: (text: string) => Buffer): Buffer {
  return write('a'.repeat(Math.max(1, bytes - write('').length)))
}
