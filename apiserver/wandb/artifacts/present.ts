import {
  countVersionsOf,
  findVersionByAlias,
  listVersionsOf,
  type ArtifactType,
  type Collection,
  type Version,
} from '../../../db/wandb/versions.ts'
import { findText, requireText } from '../graphql/arguments.ts'
import type { Arguments, GraphqlObject, GraphqlValue } from '../graphql/values.ts'
import type { Presenter } from './deps.ts'
import { readManifestDigest, readSize } from './digests.ts'
import { presentFiles } from './files.ts'
import { toWireId } from './ids.ts'
import { maxPage, presentPageInfo, readPage } from './page.ts'
import { manifestPath } from './paths.ts'

// What the SDK takes as "does not expire".
const noTtl = -2

/** A version as the SDK reads it. */
export function presentVersion(presenter: Presenter, version: Version): GraphqlObject {
  const { deps, context } = presenter
  const { id, entity, project, runName } = version
  const collection = () => presentCollection(presenter, collectionOf(version))
  return {
    __typename: 'Artifact',
    id: toWireId(id),
    state: 'COMMITTED',
    digest: () => readManifestDigest(deps, version),
    digestAlgorithm: 'MANIFEST_MD5',
    commitHash: () => readManifestDigest(deps, version),
    size: () => readSize(deps, version),
    fileCount: version.fileCount,
    versionIndex: version.version,
    description: version.description,
    metadata: JSON.stringify(version.metadata),
    createdAt: version.createdAt.toISOString(),
    updatedAt: (version.updatedAt ?? version.createdAt).toISOString(),
    ttlDurationSeconds: noTtl,
    ttlIsInherited: false,
    historyStep: null,
    tags: version.tags.map((name) => ({ __typename: 'Tag', id: name, name })),
    artifactType: presentType({ name: version.type, createdAt: version.createdAt }),
    artifactSequence: collection,
    aliases: () => presentAliases(version, presentCollection(presenter, collectionOf(version))),
    createdBy:
      runName === null ? null : { __typename: 'Run', id: runName, name: runName, project: presentName(version) },
    usedBy: { edges: [] },
    artifactMemberships: () => ({ edges: [{ node: presentMembership(presenter, version) }] }),
    files: (args) => presentFiles(presenter, version, args),
    currentManifest: {
      __typename: 'ArtifactManifest',
      id: toWireId(id),
      digest: () => readManifestDigest(deps, version),
      file: {
        __typename: 'File',
        id: toWireId(id),
        name: 'wandb_manifest.json',
        directUrl: context.signLink({ method: 'GET', path: manifestPath(entity, toWireId(id)) }),
      },
    },
    entityName: entity,
    projectName: project,
  }
}

/** A version as a member of its collection. */
export function presentMembership(presenter: Presenter, version: Version): GraphqlObject {
  const collection = presentCollection(presenter, collectionOf(version))
  return {
    __typename: 'ArtifactCollectionMembership',
    id: toWireId(version.id),
    versionIndex: version.version,
    createdAt: version.createdAt.toISOString(),
    aliases: presentAliases(version, collection),
    artifactCollection: collection,
    artifact: () => presentVersion(presenter, version),
    files: (args) => presentFiles(presenter, version, args),
  }
}

function presentAliases(version: Version, artifactCollection: GraphqlObject): GraphqlObject[] {
  const names = version.isLatest ? [...version.aliases, 'latest'] : version.aliases
  return names.map((alias) => ({
    __typename: 'ArtifactAlias',
    id: `${toWireId(version.id)}:${alias}`,
    alias,
    artifactCollection,
  }))
}

export function presentCollection(presenter: Presenter, collection: Collection): GraphqlObject {
  const createdAt = collection.createdAt.toISOString()
  return {
    __typename: 'ArtifactSequence',
    id: toWireId(collection.id),
    name: collection.name,
    state: 'READY',
    description: collection.description,
    createdAt,
    updatedAt: createdAt,
    project: presentName(collection),
    defaultArtifactType: presentType({ name: collection.type, createdAt: collection.createdAt }),
    tags: { edges: [] },
    latestArtifact: () => findMember(presenter, collection, 'latest', presentVersion),
    artifactMembership: (args) => findMember(presenter, collection, requireText(args, 'aliasName'), presentMembership),
    artifacts: (args) => presentVersions(presenter, collection, args),
    aliases: async () => {
      const versions = await listVersionsOf(presenter.deps.pool, collection, { ...firstPage, limit: maxPage })
      const edges = versions.flatMap((version) => presentAliases(version, {})).map((node) => ({ node }))
      return { totalCount: edges.length, pageInfo: lastPage, edges }
    },
  }
}

const firstPage = { after: undefined, order: 'desc' } as const
const lastPage = { __typename: 'PageInfo', hasNextPage: false, endCursor: null }

async function findMember(
  presenter: Presenter,
  collection: Collection,
  alias: string,
  present: (presenter: Presenter, version: Version) => GraphqlObject,
): Promise<GraphqlValue> {
  const version = await findVersionByAlias(presenter.deps.pool, collection, alias)
  return version && present(presenter, version)
}

async function presentVersions(presenter: Presenter, collection: Collection, args: Arguments): Promise<GraphqlValue> {
  const { limit, after } = readPage(args)
  const order = findText(args, 'order')?.startsWith('+') ? 'asc' : 'desc'
  const { pool } = presenter.deps
  const versions = await listVersionsOf(pool, collection, {
    after: after === '' ? undefined : Number(after) || 0,
    order,
    limit: limit + 1,
  })
  const shown = versions.slice(0, limit)
  return {
    totalCount: () => countVersionsOf(pool, collection),
    pageInfo: presentPageInfo(versions.length > limit, String(shown.at(-1)?.version ?? '')),
    edges: shown.map((version) => ({
      version: `v${version.version}`,
      cursor: String(version.version),
      node: presentVersion(presenter, version),
    })),
  }
}

export function presentType({ name, createdAt }: ArtifactType): GraphqlObject {
  return { __typename: 'ArtifactType', id: name, name, description: null, createdAt: createdAt.toISOString() }
}

function presentName({ entity, project }: { entity: string; project: string }): GraphqlObject {
  const id = `${entity}/${project}`
  return {
    __typename: 'Project',
    id,
    internalId: id,
    name: project,
    entity: { __typename: 'Entity', id: entity, name: entity },
  }
}

function collectionOf(version: Version): Collection {
  const { collectionId, collectionDescription, isCheckpoint, entity, project, name, type, createdAt } = version
  const description = collectionDescription
  return { id: collectionId, isModel: isCheckpoint, description, entity, project, name, type, createdAt }
}
