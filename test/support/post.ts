/** Posts JSON, or a text as it is, with a key or the token of a trainer. */
export function post(
  url: string,
  bearer: string,
  body: unknown,
  { headers, signal }: { headers?: Record<string, string>; signal?: AbortSignal | undefined } = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal && { signal }),
  })
}

/** The same, and returns the status and the JSON of the response. Undefined without any. */
export async function postJson(...args: Parameters<typeof post>) {
  const response = await post(...args)
  const text = await response.text()
  return { status: response.status, body: text ? (JSON.parse(text) as Record<string, unknown>) : undefined }
}
