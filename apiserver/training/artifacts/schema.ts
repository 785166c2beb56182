import { Type, type Static } from 'typebox'
import { isObject } from '../../../lib/json/is-object.ts'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { orderedPageQuery } from '../../../lib/http/page.ts'
import { nameSchema } from '../../accounts/names.ts'

export const maxFiles = 1000
const maxPathLength = 512
const maxMetadataBytes = 64 * 1024

export const filePathSchema = Type.String({ minLength: 1, maxLength: maxPathLength })
export const digestSchema = Type.String({ pattern: '^[0-9a-f]{64}$' })
const size = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
const file = Type.Object({ path: filePathSchema, digest: digestSchema, size })
const uuid = Type.String({ format: 'uuid' })

/** PUT of a version from files that are already uploaded. */
export const manifestSchema = Type.Object({
  files: Type.Array(file, { minItems: 1, maxItems: maxFiles }),
  metadata: Type.Optional(nullable(Type.Object({}))),
})

export const uploadQuery = Type.Object({
  file: Type.Optional(filePathSchema),
  check: Type.Optional(
    Type.Enum(['sft', 'none'], {
      description:
        'Whether the files must be SFT data. By default, files named train.jsonl or trajectories.jsonl must be.',
    }),
  ),
})

export const versionsQuery = orderedPageQuery

/** A version of a data set as clients see it. */
export const artifactSchema = Type.Object({
  id: uuid,
  entity: Type.String(),
  project: Type.String(),
  name: Type.String(),
  version: Type.String({ pattern: '^v[0-9]+$' }),
  address: Type.String(),
  digest: digestSchema,
  size,
  files: Type.Array(file),
  metadata: Type.Object({}),
  created_at: Type.String({ format: 'date-time' }),
})

/** GET /v1/preview/artifacts. */
export const dataSetListQuery = Type.Object({
  ...orderedPageQuery.properties,
  project: Type.Optional(nameSchema),
  type: Type.Optional(
    Type.String({ maxLength: 256, pattern: '^[^\\u0000]*$', description: '`dataset`, or what the wandb SDK calls it' }),
  ),
})

export type DataSetListQuery = Static<typeof dataSetListQuery>

const listedVersionSchema = Type.Object({
  id: uuid,
  version: artifactSchema.properties.version,
  address: Type.String(),
  size,
  files: Type.Integer({ description: 'how many files it has' }),
  created_at: Type.String({ format: 'date-time' }),
})

/** A data set in a list. */
export const dataSetSchema = Type.Object({
  id: uuid,
  entity: Type.String(),
  project: Type.String(),
  name: Type.String(),
  type: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
  version_count: Type.Integer(),
  versions: Type.Array(listedVersionSchema, {
    description: 'the ten newest versions, the newest first. `.../{entity}/{project}/{name}/versions` lists all.',
  }),
})

/** How many bytes of a file are stored. */
export const blobSchema = Type.Object({ digest: digestSchema, size, complete: Type.Boolean() })

/** Whether a file may have this path: relative and safe to unpack. All scripts are allowed. */
export function isFilePath(path: string): boolean {
  // oxlint-disable-next-line no-control-regex -- they are what must not be in it
  if (path.length > maxPathLength || /[\u0000-\u001f\u007f\\:*?"<>|]|\p{Cs}/u.test(path)) return false
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && part.length <= 255)
}

/** Whether this can be a version's metadata. */
export function isMetadata(value: unknown): value is Record<string, unknown> {
  return isObject(value) && JSON.stringify(value).length <= maxMetadataBytes
}
