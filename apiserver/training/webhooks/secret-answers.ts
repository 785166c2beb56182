import { openSecret } from '../../../db/webhooks/sealing.ts'
import type { WebhookWithSecret } from '../../../db/webhooks/webhooks.ts'
import { HttpError } from '../../../lib/http/http-error.ts'
import { SealError, type SealingKeys } from '../../../lib/sealing/sealing-keys.ts'
import { errors } from '../../errors/table.ts'
import { presentWebhook } from './present.ts'

type SealedAnswer = ReturnType<typeof sealAnswer>

/** The answer to whoever gets a new secret, as the database keeps it for repeated requests: the secret is encrypted. */
export function sealAnswer(webhook: WebhookWithSecret) {
  return { ...presentWebhook(webhook), secret: webhook.sealedSecret }
}

/** The same answer, as its client sees it. @throws {HttpError} 409 if the key of the secret is lost */
export function openAnswer(keys: SealingKeys, answer: SealedAnswer, entity: string): SealedAnswer {
  return { ...answer, secret: reveal(() => openSecret(keys, answer.secret, { id: answer.id, entity })) }
}

function reveal(open: () => string): string {
  try {
    return open()
  } catch (error) {
    if (!(error instanceof SealError)) throw error
    throw new HttpError(
      errors.conflict,
      `The secret of this webhook cannot be decrypted: ${error.message}. Rotate the secret.`,
    )
  }
}
