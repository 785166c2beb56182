import { Type, type Static } from 'typebox'
import { sortSchema } from '../query/schema.ts'
import { jsonText, optional, projectIdSchema } from '../schema.ts'

const texts = Type.Array(Type.String())

export const objectCreateSchema = Type.Object({
  obj: Type.Object({
    project_id: projectIdSchema,
    object_id: Type.String({ description: 'Letters, digits, `_`, `.` and `-`; at most 128.' }),
    val: jsonText(),
    builtin_object_class: optional(Type.String({ description: 'The class of an object that names none.' })),
    expected_digest: optional(Type.String()),
  }),
})

export const objectCreatedSchema = Type.Object({ digest: Type.String(), object_id: Type.String() })

export const objectReadSchema = Type.Object({
  project_id: projectIdSchema,
  object_id: Type.String(),
  digest: Type.String({ description: 'A digest, `latest`, `v` and an index, or an alias.' }),
  metadata_only: optional(Type.Boolean({ description: 'Leaves out the value: `val` is then an empty object.' })),
  include_tags_and_aliases: optional(Type.Boolean()),
})

export const objectSchema = Type.Object({
  project_id: Type.String(),
  object_id: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  deleted_at: optional(Type.String({ format: 'date-time' })),
  digest: Type.String(),
  version_index: Type.Integer(),
  is_latest: Type.Integer({ description: '0 or 1' }),
  kind: Type.String({ description: '`op` or `object`' }),
  base_object_class: optional(Type.String()),
  leaf_object_class: optional(Type.String()),
  val: Type.Unknown(),
  wb_user_id: Type.String(),
  size_bytes: optional(Type.Integer()),
  tags: Type.Optional(texts),
  aliases: Type.Optional(texts),
})

export const objectReadAnswer = Type.Object({ obj: objectSchema })

export const objectsQuerySchema = Type.Object({
  project_id: projectIdSchema,
  filter: optional(
    Type.Object({
      base_object_classes: optional(texts),
      exclude_base_object_classes: optional(texts),
      leaf_object_classes: optional(texts),
      object_ids: optional(texts),
      is_op: optional(Type.Boolean()),
      latest_only: optional(Type.Boolean()),
      tags: optional(Type.Array(Type.String(), { description: 'Matches any of these.' })),
      aliases: optional(Type.Array(Type.String(), { description: 'Matches any of these; `latest` is possible.' })),
    }),
  ),
  limit: optional(Type.Integer()),
  offset: optional(Type.Integer()),
  sort_by: optional(sortSchema),
  metadata_only: optional(Type.Boolean()),
  include_storage_size: optional(Type.Boolean()),
  include_tags_and_aliases: optional(Type.Boolean()),
})

export type ObjectsQuery = Static<typeof objectsQuerySchema>

export const objectsSchema = Type.Object({ objs: Type.Array(objectSchema) })

export const objectDeleteSchema = Type.Object({
  project_id: projectIdSchema,
  object_id: Type.String(),
  digests: optional(Type.Array(Type.String(), { description: 'At most 100. When empty, all versions.' })),
})

export const objectDeletedSchema = Type.Object({ num_deleted: Type.Integer() })

export const tagsSchema = Type.Object({ project_id: projectIdSchema, tags: texts })
export const aliasesSetSchema = Type.Object({ project_id: projectIdSchema, digest: Type.String(), aliases: texts })
export const aliasesRemoveSchema = Type.Object({ project_id: projectIdSchema, aliases: texts })
export const labelsQuerySchema = Type.Object({ project_id: projectIdSchema })
export const tagListSchema = Type.Object({ tags: texts })
export const aliasListSchema = Type.Object({ aliases: texts })
