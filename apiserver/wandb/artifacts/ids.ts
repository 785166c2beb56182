import { notFound } from '../../../lib/http/http-error.ts'

const uuidPattern = /^[0-9a-f]{32}$/

/**
 * An id as the SDK gets it. It decodes ids as base64, and encodes them again: only digits survive that, and no dashes.
 */
export function toWireId(uuid: string): string {
  return uuid.replaceAll('-', '')
}

/** Reads an id from the SDK, with or without dashes. @throws {HttpError} 404 if it cannot be one */
export function readWireId(text: string, what = 'Artifact'): string {
  const digits = text.toLowerCase().replaceAll('-', '')
  if (!uuidPattern.test(digits)) throw notFound(what, text)
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
