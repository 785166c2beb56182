import { badRequest } from '../errors.ts'
import { isObject } from '../../../lib/json/is-object.ts'

/** The values for `{name}` in the texts of messages. */
export type TemplateVars = Record<string, unknown>

/**
 * Fills variables into the texts of messages, and into the texts of their parts. As in Python's format, `{{` and `}}`
 * are braces.
 *
 * @throws {HttpError} 400 for an unknown name, and for texts that would be larger than `limitBytes` together
 */
export function fillMessages(messages: unknown[], vars: TemplateVars, limitBytes: number): unknown[] {
  return new TemplateFiller(vars, limitBytes).fillAll(messages)
}

/** Fills variables into texts. The size of each text is counted before the text is built. */
class TemplateFiller {
  readonly #vars: TemplateVars
  readonly #limitBytes: number
  readonly #texts = new Map<string, { text: string; bytes: number }>()
  #bytes = 0

  constructor(vars: TemplateVars, limitBytes: number) {
    this.#vars = vars
    this.#limitBytes = limitBytes
  }

  fillAll(messages: unknown[]): unknown[] {
    return messages.map((message) => this.#fillMembers(message))
  }

  #fillMembers(message: unknown): unknown {
    if (!isObject(message)) return message
    return Object.fromEntries(Object.entries(message).map(([key, value]) => [key, this.#fillMember(value)]))
  }

  #fillMember(value: unknown): unknown {
    if (typeof value === 'string') return this.#fillText(value)
    return Array.isArray(value) && value.every(isObject) ? this.fillAll(value) : value
  }

  #fillText(text: string): string {
    this.#count(Buffer.byteLength(text))
    return text.replaceAll(/\{\{|\}\}|\{([^{}]*)\}/g, (found: string, name: string | undefined) => {
      if (name === undefined) return found[0]!
      const filled = this.#find(name)
      this.#count(filled.bytes - Buffer.byteLength(found))
      return filled.text
    })
  }

  #find(name: string): { text: string; bytes: number } {
    const known = this.#texts.get(name)
    if (known) return known
    if (!Object.hasOwn(this.#vars, name)) throw badRequest(`the template variable ${JSON.stringify(name)} is missing`)
    const value = this.#vars[name]
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    const found = { text, bytes: Buffer.byteLength(text) }
    this.#texts.set(name, found)
    return found
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > this.#limitBytes)
      throw badRequest(`the chat with its template variables is larger than ${this.#limitBytes} bytes`)
  }
}
