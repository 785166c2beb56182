import { readOpenApi } from '../../tools/openapi.ts'

/** An operation of the OpenAPI document. */
export interface DocumentedOperation {
  method: string
  path: string
}

/** Every operation that the API documents. */
export async function listOperations(): Promise<DocumentedOperation[]> {
  const { paths } = await readOpenApi('')
  return Object.entries(paths).flatMap(([path, methods]) => Object.keys(methods).map((method) => ({ method, path })))
}
