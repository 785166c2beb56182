/** Sends a request with the first of the keys that the server takes. While a key is changed, servers may take an old one. */
export async function fetchWithKeys(url: string, keys: readonly string[], init: RequestInit): Promise<Response> {
  const [key = '', ...others] = keys
  const headers = new Headers(init.headers)
  headers.set('authorization', `Bearer ${key}`)
  const response = await fetch(url, { ...init, headers })
  if (response.status !== 401 || others.length === 0) return response
  await response.body?.cancel()
  return fetchWithKeys(url, others, init)
}
