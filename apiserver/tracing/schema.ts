import { Type, type Static, type TOptional, type TSchema, type TUnsafe } from 'typebox'
import { nullable } from '../../lib/http/validation/nullable.ts'
import type { JsonText } from '../../lib/json/json-text.ts'

/** An answer that says no more than that it is done. */
export const emptySchema = Type.Object({})

/** A member that may be absent or null; clients send either. */
export function optional<S extends TSchema>(schema: S): TOptional<TUnsafe<Static<S> | null>> {
  return Type.Optional(nullable(schema))
}

/** A member of any value that arrives as its exact text; its path stands in the operation's `texts`. */
export function jsonText(): TUnsafe<JsonText> {
  return Type.Unsafe<JsonText>({})
}

/** `entity/project`; what it must look like is a rule with an answer of its own, see projects.ts. */
export const projectIdSchema = Type.String()

/** Of a page: clients send sizes of their choice. */
export const limitSchema = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
