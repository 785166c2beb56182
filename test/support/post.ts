/** Posts JSON, or what is no plain object as it is, with a key or the token of a trainer. */
export function post(
  url: string,
  bearer: string,
  body: unknown,
  { headers, signal }: { headers?: Record<string, string>; signal?: AbortSignal | undefined } = {},
): Promise<Response> {
  const isWritten = typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData
  return fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${bearer}`,
      ...(!(body instanceof FormData) && { 'content-type': 'application/json' }),
      ...headers,
    },
    body: isWritten ? (body as NonNullable<RequestInit['body']>) : JSON.stringify(body),
    ...(signal && { signal }),
  })
}

/** The same, and returns the status and the JSON of the response. Undefined without any. */
export async function postJson(...args: Parameters<typeof post>) {
  const response = await post(...args)
  const text = await response.text()
  return { status: response.status, body: text ? (JSON.parse(text) as Record<string, unknown>) : undefined }
}

/** The header with which the SDKs of wandb and weave send a key. */
export const basic = (key: string) => ({ authorization: `Basic ${btoa(`api:${key}`)}` })
