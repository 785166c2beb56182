import type { AttemptOutcome, ClaimedDelivery } from '../../db/webhooks/sending.ts'
import { AddressError, ResponseError } from '../../lib/outbound/errors.ts'
import { backoffMs, type Backoff } from '../../lib/backoff.ts'
import type { Outbound } from '../../lib/outbound/outbound.ts'
import type { Logger } from '../../lib/log.ts'
import { SealError, type SealingKeys } from '../../lib/sealing/sealing-keys.ts'
import { signBody, writeBody } from './message.ts'
import { openSecrets } from './open-secrets.ts'

const timeoutMs = 10_000
// Once an endpoint is back, its missed deliveries arrive after at most five minutes.
const backoff: Backoff = { baseMs: 1_000, maxMs: 300_000 }

interface Deps {
  outbound: Outbound
  sealingKeys: SealingKeys
  log: Logger
}

/**
 * Makes one attempt. Only a 2xx response counts as delivered; its body is not read. Without its secret, nothing is sent.
 *
 * @throws when `signal` aborts it
 */
export async function sendDelivery(
  { outbound, sealingKeys, log }: Deps,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const secrets = openSecrets(sealingKeys, delivery, log)
  if (secrets instanceof SealError) {
    return { ...toOutcome(delivery, null), error: `its secret cannot be decrypted: ${secrets.message}; rotate it` }
  }
  const body = writeBody(delivery)
  const headers = {
    'content-type': 'application/json',
    'trainyard-delivery': delivery.id,
    'trainyard-signature': signBody(body, secrets, Math.floor(Date.now() / 1000)),
  }
  const options = { method: 'POST', headers, body, maxBytes: Number.MAX_SAFE_INTEGER, timeoutMs, signal } as const
  try {
    const answer = await outbound.ask(delivery.url, options)
    answer.body.on('error', () => {}).destroy()
    return toOutcome(delivery, answer.status)
  } catch (error) {
    signal.throwIfAborted()
    return { ...toOutcome(delivery, null), error: describeError(error) }
  }
}

function toOutcome({ attempts, failures }: ClaimedDelivery, status: number | null): AttemptOutcome {
  const delivered = status !== null && status >= 200 && status < 300
  const error = delivered ? null : `it answered ${status}`
  return {
    delivered,
    status,
    error,
    retryInMs: backoffMs(attempts, backoff),
    pauseMs: backoffMs(failures + 1, backoff),
  }
}

/** @throws errors that the endpoint did not cause */
function describeError(error: unknown): string {
  if (error instanceof AddressError || error instanceof ResponseError) return error.message
  throw error
}
