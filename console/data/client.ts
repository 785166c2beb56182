import type { Operations } from './api-types.ts'
import { basePath } from './base.ts'

export type OperationName = keyof Operations
export type Answer<Name extends OperationName> = Operations[Name]['answer']

/** What a request of an operation consists of. */
export interface Parts<Name extends OperationName> {
  path?: Operations[Name]['path']
  query?: Operations[Name]['query']
  body?: Operations[Name]['body']
}

/** An answer that is an error. */
export class ApiError extends Error {
  readonly status: number
  readonly requestId: string | undefined

  constructor(status: number, sentence: string, requestId?: string) {
    super(sentence)
    this.status = status
    this.requestId = requestId
  }
}

/** Sends a request and reads its answer. @throws {ApiError} */
export async function callApi<Name extends OperationName>(
  name: Name,
  { signal, ...parts }: Parts<Name> & { signal?: AbortSignal } = {},
): Promise<Answer<Name>> {
  const response = await send(name, parts, signal)
  return (response.status === 204 ? undefined : await response.json()) as Answer<Name>
}

async function send(name: OperationName, parts: object, signal?: AbortSignal): Promise<Response> {
  const { method, address, body } = locate(name, parts)
  return sendTo(method, address, body, signal)
}

/** Sends a request to a path of this server. @throws {ApiError} with status 0 if there is no answer */
export async function sendTo(method: string, address: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const content =
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const request = { method, ...content, ...(signal && { signal }) }
  const response = await fetch(basePath + address, request).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw new ApiError(0, 'The server does not answer. Is it running?')
  })
  if (response.ok) return response
  throw new ApiError(response.status, await readSentence(response), response.headers.get('x-request-id') ?? undefined)
}

/** The method and the address of a request, with the values of its path and its query. */
export function locate(
  name: string,
  { path = {}, query = {}, body }: { path?: object; query?: object; body?: unknown },
): { method: string; address: string; body?: unknown } {
  const [method = 'GET', template = ''] = name.split(' ')
  const values = path as Record<string, string | number>
  const pathname = template.replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(values[key] ?? ''))
  const set = Object.entries(query).filter(([, value]) => value !== undefined) as [string, unknown][]
  const text = new URLSearchParams(set.map(([key, value]): [string, string] => [key, String(value)])).toString()
  const address = text === '' ? pathname : `${pathname}?${text.replaceAll('%2C', ',')}`
  return { method, address, ...(body !== undefined && { body }) }
}

interface ErrorBody {
  detail?: string | { loc: string[]; msg: string }[]
  reason?: string
}

async function readSentence(response: Response): Promise<string> {
  const body = (await response.json().catch(() => ({}))) as ErrorBody
  const detail = body.detail ?? body.reason
  if (typeof detail === 'string') return detail
  if (detail) return detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ')
  return `The server answered with status ${response.status}.`
}
