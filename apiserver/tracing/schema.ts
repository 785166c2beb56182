import { Type, type Static, type TOptional, type TSchema, type TUnsafe } from 'typebox'
import { nullable } from '../../lib/http/validation/nullable.ts'
import type { JsonText } from '../../lib/json/json-text.ts'

/** An empty answer. */
export const emptySchema = Type.Object({})

/** A member that may be absent or null: clients send either. */
export function optional<S extends TSchema>(schema: S): TOptional<TUnsafe<Static<S> | null>> {
  return Type.Optional(nullable(schema))
}

/** A member of any value. It arrives as its exact text, and its path must be in the operation's `texts`. */
export function jsonText(): TUnsafe<JsonText> {
  return Type.Unsafe<JsonText>({})
}

/** `entity/project`. projects.ts validates it, because an invalid one has its own status. */
export const projectIdSchema = Type.String()

/** The size of a page. Clients choose any size. */
export const limitSchema = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
