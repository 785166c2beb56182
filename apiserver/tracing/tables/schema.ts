import { Type, type Static } from 'typebox'
import { sortSchema } from '../query/schema.ts'
import { jsonText, optional, projectIdSchema } from '../schema.ts'

const digestsSchema = Type.Array(Type.String())

export const tableCreateSchema = Type.Object({
  table: Type.Object({ project_id: projectIdSchema, rows: jsonText(), expected_digest: optional(Type.String()) }),
})

export const tableCreatedSchema = Type.Object({ digest: Type.String(), row_digests: digestsSchema })

export const tableFromDigestsSchema = Type.Object({
  project_id: projectIdSchema,
  row_digests: digestsSchema,
  expected_digest: optional(Type.String()),
})

export const tableDigestSchema = Type.Object({ digest: Type.String() })

const index = Type.Integer()

export const tableUpdateSchema = Type.Object({
  project_id: projectIdSchema,
  base_digest: Type.String(),
  updates: Type.Array(
    Type.Object({
      append: optional(Type.Object({ row: jsonText() })),
      pop: optional(Type.Object({ index })),
      insert: optional(Type.Object({ index, row: jsonText() })),
    }),
  ),
})

export type TableUpdates = Static<typeof tableUpdateSchema>

export const tableUpdatedSchema = Type.Object({ digest: Type.String(), updated_row_digests: digestsSchema })

export const tableQuerySchema = Type.Object({
  project_id: projectIdSchema,
  digest: Type.String(),
  filter: optional(Type.Object({ row_digests: optional(digestsSchema) })),
  limit: optional(Type.Integer()),
  offset: optional(Type.Integer()),
  sort_by: optional(sortSchema),
})

export type TableQuery = Static<typeof tableQuerySchema>

export const tableRowSchema = Type.Object({
  digest: Type.String(),
  val: Type.Unknown(),
  original_index: Type.Integer({ description: 'Its index in the table.' }),
})

export const tableRowsSchema = Type.Object({ rows: Type.Array(tableRowSchema) })

export const tableCountQuerySchema = Type.Object({ project_id: projectIdSchema, digest: Type.String() })
export const tableCountSchema = Type.Object({ count: Type.Integer() })

export const tableStatisticsQuerySchema = Type.Object({
  project_id: projectIdSchema,
  digests: optional(digestsSchema),
  include_storage_size: optional(Type.Boolean()),
})

export const tableStatisticsSchema = Type.Object({
  tables: Type.Array(
    Type.Object({ digest: Type.String(), count: Type.Integer(), storage_size_bytes: optional(Type.Integer()) }),
  ),
})
