import { deleteVersions, deleteVersionsOf, removeAliases, updateVersion } from '../../../db/wandb/changes.ts'
import { findCollectionById, listVersionsOf, type Version } from '../../../db/wandb/versions.ts'
import { HttpError, notFound } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { findBoolean, readObjects, requireText } from '../graphql/arguments.ts'
import type { Arguments, GraphqlObject } from '../graphql/values.ts'
import type { Presenter } from './deps.ts'
import { giveAliases } from './give-aliases.ts'
import { requireVersion } from './commit.ts'
import { readDescription, readMetadata } from './create.ts'
import { readWireId } from './ids.ts'
import { checkAliases } from './names.ts'
import { presentCollection, presentVersion } from './present.ts'

const maxNames = 100
// Deleting a checkpoint takes longer.
const maxDeleted = 1_000

/** Changes what is not content: metadata, description and tags. */
export async function updateArtifact(presenter: Presenter, input: Arguments): Promise<GraphqlObject> {
  const { id } = await requireChangeable(presenter, input)
  await updateVersion(presenter.deps.pool, id, {
    description: readDescription(input),
    metadata: readMetadata(input),
    tagsToAdd: readTags(input, 'tagsToAdd'),
    tagsToDelete: readTags(input, 'tagsToDelete'),
  })
  return { artifact: presentVersion(presenter, await requireVersion(presenter, id)) }
}

/** Whether it is a model before any training. It has the model's id. */
function isStepZero({ isCheckpoint, id, collectionId }: Version): boolean {
  return isCheckpoint && id === collectionId
}

/** @throws {HttpError} 404, and 400 for step 0 of a model */
async function requireChangeable(presenter: Presenter, input: Arguments): Promise<Version> {
  const version = await requireVersion(presenter, readWireId(requireText(input, 'artifactID')))
  if (!isStepZero(version)) return version
  throw new HttpError(errors.bad_request, 'Step 0 is the model before any training. It cannot be changed or deleted.')
}

function readTags(input: Arguments, name: string): string[] {
  return checkAliases(readObjects(input, name, maxNames).map((tag) => requireText(tag, 'tagName')))
}

export async function addAliases(presenter: Presenter, input: Arguments): Promise<GraphqlObject> {
  const version = await requireChangeable(presenter, input)
  await giveAliases(presenter.deps, version, readAliases(input))
  return { success: true }
}

export async function deleteAliases(presenter: Presenter, input: Arguments): Promise<GraphqlObject> {
  const version = await requireChangeable(presenter, input)
  const { pool, checkpoints } = presenter.deps
  const removed = readAliases(input)
  if (version.isCheckpoint) await checkpoints.changeAliases(version, { added: [], removed })
  else await removeAliases(pool, version, removed)
  return { success: true }
}

function readAliases(input: Arguments): string[] {
  return checkAliases(readObjects(input, 'aliases', maxNames).map((alias) => requireText(alias, 'alias')))
}

/** Deletes a version. @throws {HttpError} 400 if it has aliases, unless the client deletes these too */
export async function deleteArtifact(presenter: Presenter, input: Arguments): Promise<GraphqlObject> {
  const { deps, context } = presenter
  const version = await requireChangeable(presenter, input)
  if (version.aliases.length > 0 && findBoolean(input, 'deleteAliases') !== true) {
    const aliases = version.aliases.join(', ')
    throw new HttpError(
      errors.bad_request,
      `The version has the aliases ${aliases}. Delete them too: delete_aliases=True.`,
    )
  }
  const presented = presentVersion(presenter, version)
  if (version.isCheckpoint) await deps.checkpoints.remove(version, context)
  else await deleteVersions(deps.pool, [version.id])
  return { artifact: presented, success: true }
}

/** Deletes all versions of a collection. */
export async function deleteCollection(presenter: Presenter, input: Arguments): Promise<GraphqlObject> {
  const { deps, context } = presenter
  const id = readWireId(requireText(input, 'artifactSequenceID'), 'Collection')
  const collection = await findCollectionById(deps.pool, context.caller.entity, id)
  if (!collection) throw notFound('Collection', id)
  if (collection.isModel) {
    const versions = await listVersionsOf(deps.pool, collection, { after: undefined, order: 'asc', limit: maxDeleted })
    for (const version of versions.filter((each) => !isStepZero(each))) await deps.checkpoints.remove(version, context)
  } else await deleteVersionsOf(deps.pool, collection.id)
  return { artifactCollection: { ...presentCollection(presenter, collection), state: 'DELETED' } }
}
