import pg from 'pg'
import type { Effect, When } from './points.ts'

type Query = (this: pg.Client, ...args: unknown[]) => unknown
type Callback = (error: Error | null, result?: unknown) => void

const changes = /\b(INSERT|UPDATE|DELETE|COPY)\b/

/**
 * Calls `reach` before and after a statement that changes something, or before and after the commit of its transaction. A
 * share of all queries fails: half of them never reach Postgres, and half were executed.
 */
export function watchQueries(reach: (when: When, effects: Effect[]) => void, shareOfFaults: () => number): void {
  const prototype = pg.Client.prototype as unknown as { query: Query }
  const original = prototype.query
  prototype.query = function (...args) {
    const text = textOf(args[0])
    // Streams and cursors send themselves.
    if (text === undefined) return original.apply(this, args)
    const effects = listEffects(this, text)
    reach('before', effects)
    const isLost = Math.random() < shareOfFaults()
    const isExecuted = Math.random() < 0.5
    if (isLost && !isExecuted) breakConnection(this)
    return finish(original, this, args, () => {
      reach('after', effects)
      if (!isLost) return
      breakConnection(this)
      throw new Error('Connection terminated unexpectedly')
    })
  }
}

function textOf(query: unknown): string | undefined {
  const text = typeof query === 'string' ? query : (query as { text?: string } | null)?.text
  return text?.replaceAll(/\s+/g, ' ').trim()
}

/** What the client has changed since it began its transaction. */
const transactions = new WeakMap<pg.Client, Effect[]>()

/** What takes effect with a statement: it alone, or all of its transaction, or nothing yet. */
function listEffects(client: pg.Client, text: string): Effect[] {
  const earlier = transactions.get(client)
  if (text === 'BEGIN') transactions.set(client, [])
  if (text === 'COMMIT' || text === 'ROLLBACK') transactions.delete(client)
  if (text === 'COMMIT') return earlier ?? []
  if (!changes.test(text)) return []
  const effect: Effect = { kind: 'sql', text }
  if (!earlier) return [effect]
  earlier.push(effect)
  return []
}

/** Runs a query, and `after` before its caller has the result. If that throws, the query fails. */
function finish(query: Query, client: pg.Client, args: unknown[], after: () => void): unknown {
  const callback = args.at(-1)
  if (typeof callback !== 'function') {
    return (query.apply(client, args) as Promise<unknown>).then((result) => {
      after()
      return result
    })
  }
  const reported: Callback = (error, result) => {
    try {
      if (!error) after()
    } catch (lost) {
      return (callback as Callback)(lost as Error)
    }
    return (callback as Callback)(error, result)
  }
  return query.apply(client, [...args.slice(0, -1), reported])
}

function breakConnection(client: pg.Client): void {
  const { connection } = client as unknown as { connection: { stream: { destroy: () => void } } }
  connection.stream.destroy()
}
