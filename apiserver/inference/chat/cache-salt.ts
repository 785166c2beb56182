import { createHmac } from 'node:crypto'

// Some megabytes.
const maxKept = 10_000

/** The salts of entities whose clients send none of their own, by secret and entity. */
const known = new Map<string, string>()

/**
 * What an engine's prefix cache is salted with for an entity, so that nobody can tell from the time of an answer what others
 * have asked: engines share cached prompts only between requests with the same salt. No client can compute it, and one's own
 * salt divides the entity's further. It is the same in every process of an installation.
 *
 * @param secret of the installation
 */
export function saltCache(secret: string, entity: string, own: string | null | undefined): string {
  if (own !== undefined && own !== null) return makeSalt(secret, entity, own)
  const key = `${secret}\n${entity}`
  const found = known.get(key)
  if (found !== undefined) return found
  const salt = makeSalt(secret, entity, null)
  if (known.size >= maxKept) known.clear()
  known.set(key, salt)
  return salt
}

function makeSalt(secret: string, entity: string, own: string | null): string {
  const hmac = createHmac('sha256', secret).update(JSON.stringify(['cache salt', entity, own]))
  // Letters, digits, - and _: engines refuse some others.
  return hmac.digest('base64url')
}
