import { Type } from 'typebox'

// Each is looked up, and becomes a row.
const maxIds = 1_000

const dataSet = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'The name of the data set: letters, digits, `_`, `.` and `-`. It is created if it does not exist.',
})

export const callsToDataSetSchema = Type.Object({
  dataset: dataSet,
  call_ids: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { minItems: 1, maxItems: maxIds }),
})

export const trajectoriesToDataSetSchema = Type.Object({
  dataset: dataSet,
  trajectory_ids: Type.Array(Type.String({ format: 'uuid' }), { minItems: 1, maxItems: maxIds }),
})

export const dataSetVersionSchema = Type.Object({
  project_id: Type.String({ description: '`ENTITY/PROJECT` of the data set.' }),
  object_id: Type.String(),
  digest: Type.String(),
  version_index: Type.Integer(),
  ref: Type.String({ description: 'What weave calls the version: `weave.ref(REF).get()` reads it.' }),
  added: Type.Integer({ description: 'The rows that this request has added.' }),
  rows: Type.Integer({ description: 'All rows of the version.' }),
})
