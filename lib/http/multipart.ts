import { type HttpError, unprocessable, valueError } from './http-error.ts'
import { Busboy, type BusboyConfig, type BusboyInstance } from '@fastify/busboy'
import type { HttpContext } from './context.ts'

/** A parser of a multipart body. @throws {HttpError} 422 when the request's Content-Type names no boundary */
export function openFormParser({ req, headers }: HttpContext, options: Omit<BusboyConfig, 'headers'>): BusboyInstance {
  const type = req.headers['content-type'] ?? ''
  try {
    return new Busboy({ headers: { ...headers, 'content-type': type }, ...options })
  } catch {
    throw refuseForm('its Content-Type names no boundary')
  }
}

/**
 * Resolves when the parser can take more: its files are written as fast as they come.
 *
 * @param done settles when the parser has ended
 */
export async function feedForm(parser: BusboyInstance, done: Promise<void>, chunk: Uint8Array): Promise<void> {
  const taken = new Promise<void>((resolve, reject) => {
    parser.write(chunk, (error) => (error ? reject(error) : resolve()))
  })
  await Promise.race([taken, done])
}

/** The refusal of a multipart body. */
export function refuseForm(reason: string): HttpError {
  return unprocessable(valueError(['body'], `the form cannot be read: ${reason}`))
}
