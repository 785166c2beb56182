import { Type } from 'typebox'
import { optional, projectIdSchema } from '../schema.ts'

export const fileCreateForm = Type.Object({
  project_id: projectIdSchema,
  file: Type.String({ contentEncoding: 'binary' }),
  expected_digest: optional(Type.String()),
})
export const fileCreatedSchema = Type.Object({ digest: Type.String() })
export const fileContentSchema = Type.Object({ project_id: projectIdSchema, digest: Type.String() })
export const bytesSchema = Type.String({ contentEncoding: 'binary' })
export const filesQuerySchema = Type.Object({ project_id: projectIdSchema })
export const filesSizeSchema = Type.Object({ total_size_bytes: Type.Integer() })
