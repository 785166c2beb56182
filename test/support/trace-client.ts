import { basic } from './post.ts'

/** A response: its JSON value, or the value of each of its lines. */
export interface TraceAnswer {
  status: number
  body: unknown
}

/** A client of the tracing group with one key. */
export interface TraceClient {
  post: (path: string, body: unknown) => Promise<TraceAnswer>
  put: (path: string, body: unknown) => Promise<TraceAnswer>
  get: (path: string) => Promise<TraceAnswer>
  /** Sends a POST that must succeed. */
  call: <T>(path: string, body: unknown) => Promise<T>
  /** Sends a POST and returns the response's text. */
  text: (path: string, body: unknown) => Promise<string>
  send: (method: string, path: string, body?: unknown) => Promise<Response>
}

/** Creates a client that sends the key as the SDKs do. A body that is a string is sent unchanged. */
export function createTraceClient(url: string, key: string): TraceClient {
  const send = (method: string, path: string, body?: unknown) => {
    const isForm = body instanceof FormData
    const headers = { ...basic(key), ...(isForm ? {} : { 'content-type': 'application/json' }) }
    const sent = isForm || typeof body === 'string' ? body : JSON.stringify(body)
    return fetch(url + path, { method, headers, ...(sent === undefined ? {} : { body: sent }) })
  }
  const ask = async (method: string, path: string, body?: unknown) => readAnswer(await send(method, path, body))
  return {
    send,
    post: (path, body) => ask('POST', path, body),
    put: (path, body) => ask('PUT', path, body),
    get: (path) => ask('GET', path),
    text: async (path, body) => (await send('POST', path, body)).text(),
    call: async <T>(path: string, body: unknown) => {
      const answer = await ask('POST', path, body)
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      return answer.body as T
    },
  }
}

async function readAnswer(response: Response): Promise<TraceAnswer> {
  const text = await response.text()
  const isLines = response.headers.get('content-type')?.startsWith('application/jsonl') === true
  const lines = text.split('\n').filter((line) => line !== '')
  return {
    status: response.status,
    body: isLines ? lines.map((line) => JSON.parse(line) as unknown) : JSON.parse(text),
  }
}
