import { createHmac } from 'node:crypto'

/**
 * What an engine's prefix cache is salted with for an entity, so that nobody can tell from the time of an answer what others
 * have asked: engines share cached prompts only between requests with the same salt. No client can compute it, and one's own
 * salt divides the entity's further. It is the same in every process of an installation.
 *
 * @param secret of the installation
 */
export function saltCache(secret: string, entity: string, own: string | null | undefined): string {
  const hmac = createHmac('sha256', secret).update(JSON.stringify(['cache salt', entity, own ?? null]))
  // Letters, digits, - and _: engines refuse some others.
  return hmac.digest('base64url')
}
