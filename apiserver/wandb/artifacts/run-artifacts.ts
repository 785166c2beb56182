import { deleteVersions } from '../../../db/wandb/changes.ts'
import { countVersionsOfRun, listVersionsOfRun, type LoggingRun } from '../../../db/wandb/versions.ts'
import type { GraphqlContext } from '../graphql/resource.ts'
import type { GraphqlObject } from '../graphql/values.ts'
import type { RunArtifacts } from '../runs/run-artifacts.ts'
import { unsupported } from '../runs/read-input.ts'
import type { WandbArtifactDeps } from './deps.ts'
import { splitName } from './names.ts'
import { presentPageInfo, readPage } from './page.ts'
import { presentVersion } from './present.ts'

const deletedAtOnce = 1_000

/** What runs have to do with artifacts. */
export function createRunArtifacts(deps: WandbArtifactDeps): RunArtifacts {
  return {
    fields: (context, run) => ({
      outputArtifacts: (args) => presentLogged({ deps, context }, run, readPage(args)),
      // Nothing records which versions a run uses.
      inputArtifacts: () => {
        throw unsupported('The artifacts that a run has used')
      },
    }),
    deleteLogged: (context, run) => deleteLogged(deps, context, run),
  }
}

async function presentLogged(
  presenter: { deps: WandbArtifactDeps; context: GraphqlContext },
  run: LoggingRun,
  { limit, after }: { limit: number; after: string },
): Promise<GraphqlObject> {
  const { pool } = presenter.deps
  const versions = await listVersionsOfRun(pool, run, { after: readCursor(after), limit: limit + 1 })
  const edges = versions
    .slice(0, limit)
    .map((version) => ({ cursor: `${version.name}:v${version.version}`, node: presentVersion(presenter, version) }))
  return {
    totalCount: () => countVersionsOfRun(pool, run),
    pageInfo: presentPageInfo(versions.length > limit, edges.at(-1)?.cursor ?? ''),
    edges,
  }
}

function readCursor(cursor: string): { name: string; version: number } | undefined {
  const { name, alias } = splitName(cursor)
  const version = /^v(\d{1,9})$/.exec(alias)?.[1]
  return version === undefined ? undefined : { name, version: Number(version) }
}

/** Deletes what a run has logged, with all aliases. @throws {HttpError} 409 if a checkpoint cannot be deleted */
async function deleteLogged(deps: WandbArtifactDeps, context: GraphqlContext, run: LoggingRun): Promise<void> {
  for (let after, length = deletedAtOnce; length === deletedAtOnce;) {
    const versions = await listVersionsOfRun(deps.pool, run, { after, limit: deletedAtOnce })
    const uploaded = versions.filter(({ isCheckpoint }) => !isCheckpoint)
    await deleteVersions(
      deps.pool,
      uploaded.map(({ id }) => id),
    )
    for (const version of versions) if (version.isCheckpoint) await deps.checkpoints.remove(version, context)
    length = versions.length
    after = versions.at(-1)
  }
}
