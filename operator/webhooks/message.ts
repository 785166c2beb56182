import { createHmac } from 'node:crypto'
import type { ClaimedDelivery } from '../../db/webhooks/sending.ts'

const times = new Set(['created_at', 'started_at', 'finished_at'])

/** The body of a delivery. Every attempt sends the same body, so receivers can recognize it by its `id`. */
export function writeBody({
  eventId,
  kind,
  at,
  data,
}: Pick<ClaimedDelivery, 'eventId' | 'kind' | 'at' | 'data'>): string {
  const subject = kind.split('.')[0]!
  return JSON.stringify({
    id: eventId,
    type: kind,
    created_at: at.toISOString(),
    data: { [subject]: Object.fromEntries(Object.entries(data).map(presentMember)) },
  })
}

/** Postgres writes times with the server's offset. */
function presentMember([name, value]: [string, unknown]): [string, unknown] {
  return [name, times.has(name) && typeof value === 'string' ? new Date(value).toISOString() : value]
}

/**
 * The value of `Trainyard-Signature`: `t=UNIX,v1=HEX`, where HEX is HMAC-SHA256(secret, `${t}.${body}`). While a secret
 * is being rotated, there is one `v1` for each of the two secrets.
 */
export function signBody(body: string, secrets: readonly string[], unixSeconds: number): string {
  const signatures = secrets.map((secret) =>
    createHmac('sha256', secret).update(`${unixSeconds}.${body}`).digest('hex'),
  )
  return [`t=${unixSeconds}`, ...signatures.map((signature) => `v1=${signature}`)].join(',')
}
