/** An operation of the OpenAPI document. */
export interface DocumentedOperation {
  method: string
  path: string
}

/** Every operation that a running API documents. */
export async function listOperations(url: string): Promise<DocumentedOperation[]> {
  const response = await fetch(`${url}/openapi.json`)
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, unknown>> }
  return Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => ({ method, path })))
}
