import { createHmac } from 'node:crypto'
import { decrypt, deriveKey, encrypt } from './encrypt.ts'

// A later way of encryption gets another number. Texts of this one stay readable.
const version = 's1'

/** A sealed text that cannot be opened. The message says why, and contains nothing of the text. */
export class SealError extends Error {
  override name = 'SealError'
}

interface SealingKey {
  id: string
  key: Buffer
}

/**
 * Encrypts texts that a database keeps. A sealed text names its key, so that the key can be changed: new texts are sealed
 * with the current key, and earlier keys still open theirs.
 */
export class SealingKeys {
  readonly #keys: readonly SealingKey[]

  /** @param secrets the current one first; none: nothing can be sealed or opened */
  constructor(secrets: readonly string[]) {
    this.#keys = secrets.map((secret) => ({
      // It tells nothing about the key that it names.
      id: deriveKey(secret, 'trainyard id of a sealing key').toString('hex').slice(0, 12),
      key: deriveKey(secret, 'trainyard sealing key'),
    }))
  }

  /** Whether there is a key to seal with. */
  get canSeal(): boolean {
    return this.#keys.length > 0
  }

  /** The ids of earlier keys, whose texts are sealed again. */
  get earlierIds(): string[] {
    return this.#keys.slice(1).map(({ id }) => id)
  }

  /**
   * Seals a text for one context, such as a row of the database. With another context it cannot be opened.
   *
   * @throws {SealError} if there is no key
   */
  seal(text: string, context: readonly string[]): string {
    const [current] = this.#keys
    if (!current) throw new SealError('there is no key')
    return `${version}.${current.id}.${encrypt(text, current.key, JSON.stringify(context)).toString('base64url')}`
  }

  /** 32 bytes that follow from a text, for whoever has the current key. @throws {SealError} if there is no key */
  derive(text: string): Buffer {
    const [current] = this.#keys
    if (!current) throw new SealError('there is no key')
    return createHmac('sha256', current.key).update(text).digest()
  }

  /** @throws {SealError} */
  open(sealed: string, context: readonly string[]): string {
    const [way, id, text = ''] = sealed.split('.')
    const key = this.#keys.find((each) => each.id === id)
    if (!key || way !== version) throw new SealError(`there is no key with the id ${id}`)
    const opened = decrypt(Buffer.from(text, 'base64url'), key.key, JSON.stringify(context))
    if (opened === undefined) throw new SealError('it was changed, or it belongs to another row')
    return opened
  }
}

/** The key in a sealed text, as an expression of SQL. */
export function sealedKeyId(column: string): string {
  return `split_part(${column}, '.', 2)`
}
