import type { RunRow } from '../../../db/runs/table.ts'
import type { GraphqlContext } from '../graphql/resource.ts'
import type { GraphqlObject } from '../graphql/values.ts'

/** What runs have to do with artifacts. */
export interface RunArtifacts {
  /** The fields of a run that list its artifacts. */
  fields: (context: GraphqlContext, run: RunRow) => GraphqlObject
  /** Deletes the versions that a run has logged. */
  deleteLogged: (context: GraphqlContext, run: RunRow) => Promise<void>
}
