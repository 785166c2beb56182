import {
  countCollections,
  findCollection,
  findCollectionById,
  findVersionByAlias,
  findVersionByClientId,
  findVersionById,
  hasArtifacts,
  listCollections,
  listTypes,
  type ArtifactType,
} from '../../../db/wandb/versions.ts'
import { readObject, requireText } from '../graphql/arguments.ts'
import type { GraphqlResource, ProjectName, RootField } from '../graphql/resource.ts'
import type { Arguments, GraphqlObject, GraphqlValue } from '../graphql/values.ts'
import { addAliases, deleteAliases, deleteArtifact, deleteCollection, updateArtifact } from './update.ts'
import { commitArtifact, requireVersion } from './commit.ts'
import { createArtifact, createFiles, createManifest } from './create.ts'
import type { Presenter, WandbArtifactDeps } from './deps.ts'
import { readWireId, toWireId } from './ids.ts'
import { splitName } from './names.ts'
import { presentPageInfo, readPage } from './page.ts'
import { completeMultipart } from './parts.ts'
import { presentCollection, presentMembership, presentType, presentVersion } from './present.ts'

type Change = (presenter: Presenter, input: Arguments) => Promise<GraphqlObject>

/** Artifacts of the wandb SDK. They are the same as those that are uploaded by address. */
export function createArtifactsResource(deps: WandbArtifactDeps): GraphqlResource {
  const change =
    (make: Change): RootField =>
    (args, context) =>
      make({ deps, context }, readObject(args, 'input'))
  return {
    query: {
      artifact: (args, context) => findArtifact({ deps, context }, args),
      artifactCollection: async (args, context) => {
        const id = readWireId(requireText(args, 'id'), 'Collection')
        const collection = await findCollectionById(deps.pool, context.caller.entity, id)
        return collection && presentCollection({ deps, context }, collection)
      },
      clientIDMapping: async (args, { caller }) => {
        const id = await findVersionByClientId(deps.pool, caller.entity, requireText(args, 'clientID'))
        return id === undefined ? null : { serverID: toWireId(id) }
      },
    },
    mutation: {
      createArtifact: change(createArtifact),
      createArtifactManifest: change(createManifest),
      createArtifactFiles: change(createFiles),
      completeMultipartUploadArtifact: change(completeMultipart),
      commitArtifact: change(commitArtifact),
      updateArtifact: change(updateArtifact),
      addAliases: change(addAliases),
      deleteAliases: change(deleteAliases),
      deleteArtifact: change(deleteArtifact),
      deleteArtifactSequence: change(deleteCollection),
      useArtifact: change(useArtifact),
    },
    hasProject: (_, { entity, project }) => hasArtifacts(deps.pool, entity, project),
    projectFields: (context, name) => presentProjectFields({ deps, context }, name),
    features: [
      'CLIENT_IDS',
      'LARGE_FILENAMES',
      'PROJECT_ARTIFACT_COLLECTION_MEMBERSHIP',
      'ARTIFACT_COLLECTION_MEMBERSHIP_FILES',
    ],
    types: {
      CreateArtifactInput: { name: 'CreateArtifactInput', inputFields: [] },
      Artifact: { name: 'Artifact', fields: [] },
      UseArtifactInput: { name: 'UseArtifactInput', inputFields: [] },
    },
  }
}

async function findArtifact(presenter: Presenter, args: Arguments): Promise<GraphqlValue> {
  const { deps, context } = presenter
  const version = await findVersionById(deps.pool, context.caller.entity, readWireId(requireText(args, 'id')))
  return version && presentVersion(presenter, version)
}

async function useArtifact(presenter: Presenter, input: Arguments): Promise<GraphqlObject> {
  const version = await requireVersion(presenter, readWireId(requireText(input, 'artifactID')))
  return { artifact: presentVersion(presenter, version) }
}

function presentProjectFields(presenter: Presenter, project: ProjectName): GraphqlObject {
  const { pool } = presenter.deps
  const find = async (text: string) => {
    const { name, alias } = splitName(text)
    return findVersionByAlias(pool, { ...project, name }, alias)
  }
  return {
    artifact: async (args) => {
      const version = await find(requireText(args, 'name'))
      return version && presentVersion(presenter, version)
    },
    artifactCollectionMembership: async (args) => {
      const version = await find(requireText(args, 'name'))
      return version && presentMembership(presenter, version)
    },
    artifactCollection: (args) => findNamed(presenter, project, args, undefined),
    artifactCollections: (args) => presentCollections(presenter, project, args, undefined),
    artifactType: async (args) => {
      const type = requireText(args, 'name')
      const types = await listTypes(pool, project)
      const found = types.find(({ name }) => name === type)
      return found && presentTypeOf(presenter, project, found)
    },
    artifactTypes: async () => {
      const types = await listTypes(pool, project)
      const edges = types.map((type) => ({ cursor: type.name, node: presentTypeOf(presenter, project, type) }))
      return { totalCount: edges.length, pageInfo: presentPageInfo(false, ''), edges }
    },
  }
}

function presentTypeOf(presenter: Presenter, project: ProjectName, type: ArtifactType): GraphqlObject {
  return {
    ...presentType(type),
    artifactCollection: (args) => findNamed(presenter, project, args, type.name),
    artifactCollections: (args) => presentCollections(presenter, project, args, type.name),
  }
}

async function findNamed(
  presenter: Presenter,
  project: ProjectName,
  args: Arguments,
  type: string | undefined,
): Promise<GraphqlValue> {
  const collection = await findCollection(presenter.deps.pool, { ...project, name: requireText(args, 'name') })
  if (!collection || (type !== undefined && collection.type !== type)) return null
  return presentCollection(presenter, collection)
}

async function presentCollections(
  presenter: Presenter,
  project: ProjectName,
  args: Arguments,
  type: string | undefined,
): Promise<GraphqlObject> {
  const { pool } = presenter.deps
  const { limit, after } = readPage(args)
  const collections = await listCollections(pool, project, { type, after, limit: limit + 1 })
  const shown = collections.slice(0, limit)
  return {
    totalCount: () => countCollections(pool, project, type),
    pageInfo: presentPageInfo(collections.length > limit, shown.at(-1)?.name ?? ''),
    edges: shown.map((collection) => ({ cursor: collection.name, node: presentCollection(presenter, collection) })),
  }
}
