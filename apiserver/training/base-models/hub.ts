import { text } from 'node:stream/consumers'
import { isObject } from '../../../lib/json/is-object.ts'
import { HttpError, unprocessable, valueError } from '../../../lib/http/http-error.ts'
import { ResponseError } from '../../../lib/outbound/errors.ts'
import type { Outbound } from '../../../lib/outbound/outbound.ts'
import { errors } from '../../errors/table.ts'

// The hub answers in less than a second. A client waits for the answer.
const timeoutMs = 10_000
// A model with thousands of files has some hundred KB.
const maxBytes = 2 * 1024 * 1024
const retryAfterSeconds = 30
const commitHash = /^[0-9a-f]{40,64}$/

/** A hub of models, as huggingface_hub asks it. */
export class ModelHub {
  readonly #outbound: Outbound
  readonly #endpoint: string

  /** @param endpoint its address, without a slash at the end */
  constructor(outbound: Outbound, endpoint: string) {
    this.#outbound = outbound
    this.#endpoint = endpoint
  }

  /**
   * The commit that the main branch of a model is at now.
   *
   * @throws {HttpError} 422 for a model that the hub does not show to everybody, 503 if the hub gives no usable answer
   */
  async resolveRevision(id: string): Promise<string> {
    const info = parseInfo(await this.#read(`${this.#endpoint}/api/models/${id}/revision/main`, id))
    if (!info) throw unavailable('its answer is not the description of a model')
    // The hub redirects renamed models, and ignores case. One model must not become several base models.
    if (info.id !== id) throw notUsable(id, `the hub calls it ${info.id}: use that name`)
    return info.sha
  }

  async #read(address: string, id: string): Promise<string> {
    try {
      const { body } = await this.#outbound.fetch(address, { maxBytes, signal: AbortSignal.timeout(timeoutMs) })
      return await text(body)
    } catch (error) {
      if (error instanceof ResponseError && [401, 403, 404].includes(error.status ?? 0)) {
        throw notUsable(id, 'the hub has no such model, or does not show it to everybody')
      }
      throw unavailable(error instanceof Error ? error.message : 'unknown', error)
    }
  }

  close(): Promise<void> {
    return this.#outbound.close()
  }
}

function parseInfo(answer: string): { id: string; sha: string } | undefined {
  try {
    const value: unknown = JSON.parse(answer)
    if (!isObject(value)) return undefined
    const { id, sha } = value
    if (typeof id !== 'string' || id.length > 200 || typeof sha !== 'string' || !commitHash.test(sha)) return undefined
    return { id, sha }
  } catch {
    return undefined
  }
}

function notUsable(id: string, reason: string): HttpError {
  return unprocessable(valueError(['body', 'base_model'], `there is no base model ${id}, and none is made: ${reason}`))
}

function unavailable(reason: string, cause?: unknown): HttpError {
  const sentence = `The hub of models cannot be used now: ${reason}. Send this request again later.`
  return new HttpError(errors.base_model_not_made, sentence, { retryAfterSeconds, cause })
}
