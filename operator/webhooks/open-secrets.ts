import type { ClaimedDelivery } from '../../db/webhooks/sending.ts'
import { openSecret } from '../../db/webhooks/sealing.ts'
import type { Logger } from '../../lib/log.ts'
import { SealError, type SealingKeys } from '../../lib/sealing/sealing-keys.ts'

/**
 * The secrets to sign a delivery with, or why the current one cannot be decrypted. During a rotation, deliveries go on
 * without the one before.
 */
export function openSecrets(keys: SealingKeys, delivery: ClaimedDelivery, log: Logger): string[] | SealError {
  const { webhookId, entity, sealedSecrets } = delivery
  const opened = sealedSecrets.map((sealed) => {
    if (sealed === null) return undefined
    try {
      return openSecret(keys, sealed, { id: webhookId, entity })
    } catch (error) {
      if (!(error instanceof SealError)) throw error
      log.error({ webhookId, reason: error.message }, 'a secret of a webhook cannot be decrypted')
      return error
    }
  })
  if (opened[0] instanceof SealError) return opened[0]
  return opened.filter((secret) => typeof secret === 'string')
}
