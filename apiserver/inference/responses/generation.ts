import { isObject } from '../../../lib/json/is-object.ts'

// A number in a list, and its text in the response. The text of a sampled token has the names of two members.
const bytesPerPromptToken = 16
const bytesPerSampledToken = 120

/** The parts of a reply that describe its tokens. */
interface TokenParts {
  prompt_token_ids?: unknown
  token_ids?: unknown
  sampling?: unknown
  logprobs: readonly unknown[]
}

/** What a response says of the tokens that the model sampled, for training. ART reads the same form. */
export interface TokenGeneration {
  prompt_token_ids: number[]
  output_tokens: { token_id: number; logprob?: number }[]
  /** The items of the output that the tokens became. */
  output_indices: number[]
  /** The settings of sampling that change the model's distribution. */
  sampling?: object
}

/** Collects the tokens of a chat's reply. */
export class Generation {
  #prompt: number[] = []
  #sampling: object | undefined
  readonly #ids: number[] = []
  readonly #logprobs: number[] = []

  /** Its approximate size in memory. */
  get size(): number {
    return bytesPerPromptToken * this.#prompt.length + bytesPerSampledToken * this.#ids.length
  }

  /** Adds a complete reply, or one event of a stream. */
  add({ prompt_token_ids: prompt, token_ids: ids, sampling, logprobs }: TokenParts): void {
    if (isNumbers(prompt)) this.#prompt = prompt
    if (isNumbers(ids)) for (const id of ids) this.#ids.push(id)
    if (isObject(sampling)) this.#sampling = sampling
    for (const entry of logprobs) this.#logprobs.push(readLogprob(entry))
  }

  /** A response has one generation. Undefined if the engine has not said which tokens these were. */
  present(itemCount: number): TokenGeneration[] | undefined {
    if (this.#prompt.length === 0 || this.#ids.length === 0) return undefined
    const isScored = this.#logprobs.length === this.#ids.length
    const generation: TokenGeneration = {
      prompt_token_ids: this.#prompt,
      output_tokens: this.#ids.map((id, at) => ({ token_id: id, ...(isScored && { logprob: this.#logprobs[at]! }) })),
      output_indices: Array.from({ length: itemCount }, (_, index) => index),
    }
    return [{ ...generation, ...(this.#sampling && { sampling: this.#sampling }) }]
  }
}

function isNumbers(value: unknown): value is number[] {
  return Array.isArray(value) && typeof value[0] === 'number'
}

function readLogprob(entry: unknown): number {
  return isObject(entry) && typeof entry['logprob'] === 'number' ? entry['logprob'] : Number.NaN
}
