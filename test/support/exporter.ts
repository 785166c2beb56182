import { randomBytes } from 'node:crypto'
import { addKey, type OwnApi } from './api-server.ts'
import { basic, post } from './post.ts'
import { type OtlpRequest, type OtlpSpan, toAttributes } from './otlp.ts'

export const protobuf = 'application/x-protobuf'
export const json = 'application/json'

export interface Export {
  path?: string
  type?: string
  body: Buffer | string
  headers?: Record<string, string>
}

/** Exports spans to a test's apiserver. Without other headers it uses a key of `team`, and the project p. */
export class Exporter {
  readonly #own: OwnApi
  #key: Promise<string> | undefined

  constructor(own: OwnApi) {
    this.#own = own
  }

  key(): Promise<string> {
    return (this.#key ??= addKey(this.#own.database.pool, 'team'))
  }

  async post({ path = '/otel/v1/traces', type = protobuf, body, headers = {} }: Export) {
    const key = await this.key()
    const response = await post(this.#own.server.url + path, key, body, {
      headers: { ...basic(key), 'content-type': type, project_id: 'team/p', ...headers },
    })
    const answer = Buffer.from(await response.arrayBuffer())
    return { status: response.status, type: response.headers.get('content-type'), body: answer }
  }

  /** Returns status and JSON of the response. */
  async ask(sent: Export) {
    const { status, body } = await this.post(sent)
    return { status, body: JSON.parse(body.toString()) as Record<string, unknown> }
  }
}

export const spanOf = (more: OtlpSpan = {}): OtlpSpan => ({
  traceId: randomBytes(16).toString('hex'),
  spanId: randomBytes(8).toString('hex'),
  name: 'chat',
  startTimeUnixNano: '1769860800000000000',
  endTimeUnixNano: '1769860801000000000',
  ...more,
})
export const requestOf = (...spans: OtlpSpan[]): OtlpRequest => ({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
export const resourceOf = (entity: string, project: string, ...spans: OtlpSpan[]) => ({
  resource: { attributes: toAttributes({ 'wandb.entity': entity, 'wandb.project': project }) },
  scopeSpans: [{ spans }],
})
