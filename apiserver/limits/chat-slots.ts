import { Refusal } from '../refusal.ts'

const retryAfterSeconds = '1'

/** The chats that each entity has under way in this process. */
export class ChatSlots {
  /** An entity without any has no entry. */
  readonly #taken = new Map<string, number>()

  /**
   * Takes a place; the function that is returned gives it back, once, however often it is called.
   *
   * @param limit null for none
   * @throws {Refusal} 429 when all places are taken
   */
  take(entity: string, limit: number | null): () => void {
    const taken = this.#taken.get(entity) ?? 0
    if (limit !== null && taken >= limit) {
      const detail = `${entity} has ${taken} chats under way, as many as it may; ask again when one has ended.`
      throw new Refusal(429, detail, { 'Retry-After': retryAfterSeconds })
    }
    this.#taken.set(entity, taken + 1)
    let held = true
    return () => {
      if (held) this.#giveBack(entity)
      held = false
    }
  }

  #giveBack(entity: string): void {
    const rest = (this.#taken.get(entity) ?? 1) - 1
    if (rest > 0) this.#taken.set(entity, rest)
    else this.#taken.delete(entity)
  }
}
