import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import type { Arguments } from './values.ts'

// There is no schema that checks types: each resolver reads its arguments with these functions.

/** The error of an argument. */
export function invalidArgument(name: string, reason: string): HttpError {
  return new HttpError(errors.bad_request, `The argument ${name} ${reason}.`)
}

/** A text; undefined if it is missing or null. @throws {HttpError} if it has another type, or contains NUL */
export function findText(args: Arguments, name: string): string | undefined {
  const value = args[name] ?? undefined
  if (value === undefined) return undefined
  if (typeof value !== 'string') throw invalidArgument(name, 'must be a string')
  if (value.includes('\0')) throw invalidArgument(name, 'must not contain NUL characters')
  return value
}

/** A text that must be there and not empty. @throws {HttpError} */
export function requireText(args: Arguments, name: string): string {
  const value = findText(args, name)
  if (value === undefined || value === '') throw invalidArgument(name, 'is missing')
  return value
}

/** An integer, also as text; undefined if it is missing or null. @throws {HttpError} */
export function findInteger(args: Arguments, name: string): number | undefined {
  const value = args[name] ?? undefined
  if (value === undefined) return undefined
  const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw invalidArgument(name, 'must be an integer')
  return number
}

/** A boolean; undefined if it is missing or null. @throws {HttpError} */
export function findBoolean(args: Arguments, name: string): boolean | undefined {
  const value = args[name] ?? undefined
  if (value !== undefined && typeof value !== 'boolean') throw invalidArgument(name, 'must be a boolean')
  return value
}

/** An object; empty if it is missing or null. @throws {HttpError} */
export function readObject(args: Arguments, name: string): Arguments {
  const value = args[name] ?? {}
  if (!isObject(value)) throw invalidArgument(name, 'must be an object')
  return value
}

/** A list of objects; empty if it is missing or null. @throws {HttpError} if it has more than `max` */
export function readObjects(args: Arguments, name: string, max: number): Arguments[] {
  const values = readList(args, name, max)
  if (!values.every(isObject)) throw invalidArgument(name, 'must be a list of objects')
  return values
}

/** A list of texts; empty if it is missing or null. @throws {HttpError} if it has more than `max` */
export function readTexts(args: Arguments, name: string, max: number): string[] {
  const values = readList(args, name, max)
  if (!values.every((value) => typeof value === 'string' && !value.includes('\0')))
    throw invalidArgument(name, 'must be a list of strings without NUL characters')
  return values as string[]
}

function readList(args: Arguments, name: string, max: number): unknown[] {
  const value = args[name] ?? []
  if (!Array.isArray(value)) throw invalidArgument(name, 'must be a list')
  if (value.length > max) throw invalidArgument(name, `has ${value.length} items. At most ${max} are allowed`)
  return value
}

function isObject(value: unknown): value is Arguments {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
