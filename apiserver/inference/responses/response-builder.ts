import type { EngineCall } from '../ask-engine.ts'
import type { PreparedResponse } from './prepare.ts'
import { wantsLogprobs } from './chat-body.ts'
import { ChatReplyReader } from './chat-reply.ts'
import { Generation, type TokenGeneration } from './generation.ts'
import { ResponseOutput, type ItemEvent } from './output.ts'
import { presentResponse, type PresentedResponse, type ResponseFacts } from './present.ts'
import { maxStoredBytes, type ResponseStore } from './store.ts'

/** A response with what its client gets beside what is stored. */
type EndedResponse = PresentedResponse & { token_generations?: TokenGeneration[] }

/** A response that is being created. */
export class ResponseBuilder {
  readonly facts: ResponseFacts
  readonly reader: ChatReplyReader
  readonly #output: ResponseOutput
  readonly #generation = new Generation()
  readonly #prepared: PreparedResponse
  readonly #call: EngineCall
  #ended: EndedResponse | undefined

  /** @param emit is called with each change of the output */
  constructor(call: EngineCall, prepared: PreparedResponse, id: string, emit?: (event: ItemEvent) => void) {
    const { request, chat } = prepared
    const isStored = request.store !== false
    this.facts = { id, createdAt: new Date(), model: chat.target.requestedName, request, isStored }
    this.#output = new ResponseOutput(id, emit)
    const [output, generation] = [this.#output, this.#generation]
    this.reader = new ChatReplyReader({ output, generation, hasLogprobs: wantsLogprobs(request) })
    this.#prepared = prepared
    this.#call = call
  }

  /** The approximate size of its output and its tokens in memory. */
  get size(): number {
    return this.#output.size + this.#generation.size
  }

  /** The final response, or the response so far. */
  present(): PresentedResponse {
    const { usage } = this.reader
    return this.#ended ?? presentResponse(this.facts, { status: 'in_progress', output: this.#output.items, usage })
  }

  begin(): PresentedResponse {
    return presentResponse(this.facts, { status: 'in_progress', output: [], usage: null })
  }

  /** Completes the response. Stores it before the client gets it, unless it is too large. */
  async end(stored: ResponseStore): Promise<EndedResponse> {
    const { finishReason, usage } = this.reader
    const status = finishReason === 'length' ? 'incomplete' : 'completed'
    const { items } = this.#output
    this.#output.close(status)
    const response = presentResponse(this.facts, { status, output: items, usage })
    const generations = this.#generation.present(items.length)
    const ended: EndedResponse = { ...response, ...(generations && { token_generations: generations }) }
    this.#ended = ended
    if (!this.facts.isStored) return ended
    // The tokens are not stored: they are for the client that trains on its own exchanges.
    const text = JSON.stringify(response)
    const bytes = Buffer.byteLength(this.#prepared.input) + Buffer.byteLength(text)
    if (bytes > maxStoredBytes) return { ...ended, store: false }
    await stored.save(this.#describe(text, bytes))
    return ended
  }

  /** Completes a response that was cut off. No other response can continue it. */
  fail(message: string): PresentedResponse {
    this.#output.close('incomplete')
    const error = { code: 'server_error', message }
    const state = { status: 'failed' as const, output: this.#output.items, usage: this.reader.usage, error }
    this.#ended = presentResponse({ ...this.facts, isStored: false }, state)
    return this.#ended
  }

  #describe(response: string, bytes: number) {
    const { id, createdAt, request } = this.facts
    const { conversation, input, chat } = this.#prepared
    const { caller, project } = this.#call
    return {
      id,
      entity: caller.entity,
      project: project ?? chat.target.charged.project,
      previousId: request.previous_response_id ?? null,
      rootId: conversation?.rootId ?? id,
      createdAt,
      bytes,
      input,
      response,
    }
  }
}
