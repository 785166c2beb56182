import type { JWTPayload } from 'jose'

// A token has about a kilobyte.
const maxTokens = 10_000

/** The claims of tokens whose signatures were checked, until they expire. Of too many, the oldest is forgotten. */
export class VerifiedTokens<Claims extends JWTPayload> {
  readonly #claims = new Map<string, Claims>()

  find(token: string): Claims | undefined {
    const claims = this.#claims.get(token)
    return claims && Date.now() < (claims.exp ?? 0) * 1000 ? claims : undefined
  }

  keep(token: string, claims: Claims): void {
    this.#claims.set(token, claims)
    const [oldest] = this.#claims.keys()
    if (this.#claims.size > maxTokens && oldest !== undefined) this.#claims.delete(oldest)
  }
}
