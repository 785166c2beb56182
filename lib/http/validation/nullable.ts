import { Type, type Static, type TSchema, type TUnsafe } from 'typebox'

/** The schema or null. Both are in one `type` list, so that a wrong value gives one issue and not one per branch. */
export function nullable<S extends TSchema>(schema: S): TUnsafe<Static<S> | null> {
  const { type, enum: literals, ...rest } = schema as S & { type?: string | string[]; enum?: unknown[] }
  return Type.Unsafe<Static<S> | null>({
    ...rest,
    ...(type ? { type: [...[type].flat(), 'null'] } : {}),
    ...(literals ? { enum: [...literals, null] } : {}),
  })
}
