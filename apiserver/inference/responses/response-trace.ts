import type { ClientWatch } from '../../../lib/http/client-watch.ts'
import type { RequestContext } from '../../accounts/context.ts'
import { beginTrace, chooseProject, type BegunTrace, type ChatTraces } from '../chat-traces.ts'
import type { PresentedResponse } from './present.ts'

/** A response that can be presented at any time. */
interface Presentable {
  present: () => PresentedResponse
}

/** Records a response as a trace: the request as it was received, and the response until it was sent. */
export class ResponseTrace {
  readonly #trace: BegunTrace
  readonly #ctx: RequestContext
  readonly #client: ClientWatch
  #project: string | undefined
  #builder: Presentable | undefined

  constructor(trace: BegunTrace, ctx: RequestContext, client: ClientWatch) {
    this.#trace = trace
    this.#ctx = ctx
    this.#client = client
  }

  keepRequest(bytes: Buffer): void {
    this.#trace.keepRequest(bytes)
  }

  /** An engine has answered. @param charged the project that the response is charged to */
  begin(charged: string | null): void {
    this.#project = chooseProject(this.#trace, this.#ctx, charged)
  }

  follow(builder: Presentable): void {
    this.#builder = builder
  }

  /** The request has failed. Nothing of it is kept, unless its client has left. */
  fail(): void {
    if (!this.#client.hasLeft) this.#builder = undefined
  }

  /** The response is sent, or the client has left. */
  end(): void {
    const [project, builder] = [this.#project, this.#builder]
    if (project === undefined || !builder) return this.#trace.abandon()
    const response = builder.present()
    this.#trace.keepReply(Buffer.from(JSON.stringify(response)))
    const { input_tokens: promptTokens = 0, output_tokens: completionTokens = 0 } = response.usage ?? {}
    const { hasLeft } = this.#client
    const [{ model }, tokens, error] = [response, { promptTokens, completionTokens }, response.error?.message]
    this.#trace.end({ project, isStream: false, model, tokens, hasLeft, error })
  }
}

/** Begins to record a response if that is asked for. @throws {HttpError} as `beginTrace` does */
export function beginResponseTrace(
  traces: ChatTraces,
  ctx: RequestContext,
  { project, client }: { project: string | undefined; client: ClientWatch },
): ResponseTrace | undefined {
  const begun = beginTrace(traces, ctx, { operation: 'openai.responses.create', state: ctx.state, project })
  if (!begun) return undefined
  const trace = new ResponseTrace(begun, ctx, client)
  ctx.res.once('close', () => trace.end())
  if (ctx.res.closed) trace.end()
  return trace
}
