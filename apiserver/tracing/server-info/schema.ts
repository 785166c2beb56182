import { Type } from 'typebox'
import { optional, projectIdSchema } from '../schema.ts'

export const serverInfoSchema = Type.Object({
  min_required_weave_python_version: Type.String(),
  trace_server_version: Type.String(),
})

/** POST /service/projects_info. */
export const projectsInfoSchema = Type.Object({
  project_ids: Type.Array(Type.String(), { maxItems: 1_000 }),
})

export const projectsInfoAnswer = Type.Array(
  Type.Object({ external_project_id: Type.String(), internal_project_id: Type.String() }),
)

/** POST /project/stats. */
export const projectStatsSchema = Type.Object({
  project_id: projectIdSchema,
  include_trace_storage_size: optional(Type.Boolean()),
  include_object_storage_size: optional(Type.Boolean()),
  include_table_storage_size: optional(Type.Boolean()),
  include_file_storage_size: optional(Type.Boolean()),
})

export const projectStatsAnswer = Type.Object({
  trace_storage_size_bytes: Type.Integer(),
  objects_storage_size_bytes: Type.Integer(),
  tables_storage_size_bytes: Type.Integer(),
  files_storage_size_bytes: Type.Integer(),
})
