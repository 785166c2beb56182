import { createHmac } from 'node:crypto'

// These need some megabytes.
const maxKept = 10_000

/** The salts of entities whose clients send no salt, by secret and entity. */
const known = new Map<string, string>()

/**
 * The salt of an engine's prefix cache for an entity. Engines share cached prompts only between requests with the same
 * salt, so that no entity can tell from the time of a reply what others have asked. No client can compute the salt. A
 * client's own salt divides the cache of its entity further. All processes of an installation compute the same salts.
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
  // Letters, digits, - and _. Engines reject some other characters.
  return hmac.digest('base64url')
}
