import { HttpError } from '../../../lib/http/http-error.ts'
import { errors } from '../../errors/table.ts'
import { requireRole } from '../../accounts/keys/require-key.ts'
import { isTracedName } from '../../accounts/names.ts'
import { findText, requireText } from './arguments.ts'
import type { PlannedField } from './plan.ts'
import type { GraphqlContext, GraphqlResource, ProjectName, RootField } from './resource.ts'
import type { Arguments, GraphqlField, GraphqlObject, GraphqlValue } from './values.ts'

type Fields = Readonly<Record<string, RootField>>

/** The fields of Query and Mutation, of all subjects. */
export interface Roots {
  query: Fields
  mutation: Fields
}

/** Puts the subjects together. @throws {Error} if two of them have the same field */
export function createRoots(resources: readonly GraphqlResource[]): Roots {
  const own: Fields = {
    serverInfo: () => ({ features: listFeatures(resources) }),
    __type: (args) => findType(resources, requireText(args, 'name')),
    project: (args, context) => openProject(resources, args, context),
    entity: (args, context) => openEntity(resources, args, context),
    viewer: (_, context) => openViewer(resources, context),
  }
  return {
    query: joinFields([own, ...resources.map(({ query }) => query ?? {})]),
    mutation: joinFields(resources.map(({ mutation }) => mutation ?? {})),
  }
}

/** The root object of a request. */
export function openRoot({ query, mutation }: Roots, kind: 'query' | 'mutation', context: GraphqlContext) {
  const isQuery = kind === 'query'
  const fields = Object.entries(isQuery ? query : mutation).map(([name, resolve]): [string, GraphqlField] => [
    name,
    isQuery ? (args) => resolve(args, context) : (args) => mutate(name, resolve, args, context),
  ])
  return { ...Object.fromEntries(fields), __typename: isQuery ? 'Query' : 'Mutation' } satisfies GraphqlObject
}

/** @throws {HttpError} for a mutation that does not exist: null would crash clients, or look like success */
export function requireKnown({ mutation }: Roots, kind: 'query' | 'mutation', fields: readonly PlannedField[]): void {
  const unknown = fields.find(({ name }) => kind === 'mutation' && !Object.hasOwn(mutation, name))
  if (!unknown || unknown.name === '__typename') return
  throw new HttpError(errors.bad_request, `The mutation ${unknown.name} is not supported by this server.`)
}

async function mutate(
  name: string,
  resolve: RootField,
  args: Arguments,
  context: GraphqlContext,
): Promise<GraphqlValue> {
  requireRole(context.caller, 'member')
  const value = await resolve(args, context)
  if (value === null || value === undefined) throw new Error(`the mutation ${name} returned nothing`)
  return value
}

/**
 * The entity that arguments name, or that of the key. @throws {HttpError} 403 for any other one, whether it exists or
 * not
 */
export function readEntity(args: Arguments, { caller }: GraphqlContext, name = 'entityName'): string {
  const entity = findText(args, name) ?? ''
  if (entity === '' || entity === caller.entity) return caller.entity
  throw new HttpError(
    errors.foreign_entity,
    `This key belongs to the entity ${caller.entity}, and not to ${JSON.stringify(entity.slice(0, 128))}. ` +
      'Set WANDB_ENTITY to the entity of the key, or remove it.',
  )
}

/** The project that arguments name. @throws {HttpError} 400 for an invalid name, 403 for another entity */
export function readProject(args: Arguments, context: GraphqlContext, name = 'name'): ProjectName {
  const entity = readEntity(args, context)
  const project = requireText(args, name)
  if (isTracedName(project) && !project.includes('/')) return { entity, project }
  throw new HttpError(errors.bad_request, 'The name of a project has 1 to 256 characters, and no slash.')
}

async function openProject(
  resources: readonly GraphqlResource[],
  args: Arguments,
  context: GraphqlContext,
): Promise<GraphqlValue> {
  const name = readProject(args, context)
  for (const { hasProject } of resources) {
    if (await hasProject?.(context, name)) return presentProject(resources, context, name)
  }
  return null
}

/** A project with the fields of all subjects. */
export function presentProject(
  resources: readonly GraphqlResource[],
  context: GraphqlContext,
  name: ProjectName,
): GraphqlObject {
  const { entity, project } = name
  const fields = resources.map(({ projectFields }) => projectFields?.(context, name) ?? {})
  return joinObjects([
    {
      __typename: 'Project',
      id: `${entity}/${project}`,
      name: project,
      entityName: entity,
      entity: { __typename: 'Entity', id: entity, name: entity },
    },
    ...fields,
  ])
}

function openEntity(resources: readonly GraphqlResource[], args: Arguments, context: GraphqlContext): GraphqlObject {
  const entity = readEntity(args, context, 'name')
  const fields = resources.map(({ entityFields }) => entityFields?.(context) ?? {})
  return joinObjects([
    {
      __typename: 'Entity',
      id: entity,
      name: entity,
      organization: null,
      project: (given) => openProject(resources, { ...given, entityName: entity }, context),
    },
    ...fields,
  ])
}

function openViewer(resources: readonly GraphqlResource[], context: GraphqlContext): GraphqlObject {
  const { entity } = context.caller
  const fields = resources.map(({ viewerFields }) => viewerFields?.(context) ?? {})
  return joinObjects([
    {
      __typename: 'User',
      id: entity,
      entity,
      username: entity,
      name: entity,
      email: null,
      admin: false,
      flags: '{}',
      deletedAt: null,
      defaultEntity: { __typename: 'Entity', id: entity, name: entity },
      teams: { edges: [{ node: { __typename: 'Entity', id: entity, name: entity } }] },
    },
    ...fields,
  ])
}

function listFeatures(resources: readonly GraphqlResource[]) {
  const names = resources.flatMap(({ features }) => features ?? [])
  return names.map((name) => ({ __typename: 'ServerFeature', name, isEnabled: true }))
}

function findType(resources: readonly GraphqlResource[], name: string): GraphqlValue {
  return resources.map(({ types }) => (types && Object.hasOwn(types, name) ? types[name] : undefined)).find(Boolean)
}

function joinFields(all: readonly Fields[]): Fields {
  return joinMembers(all)
}

/** Objects of several subjects as one. */
function joinObjects(all: readonly GraphqlObject[]): GraphqlObject {
  return joinMembers(all)
}

function joinMembers<T>(all: readonly Readonly<Record<string, T>>[]): Record<string, T> {
  const joined: Record<string, T> = {}
  for (const [name, member] of all.flatMap((each) => Object.entries(each))) {
    if (Object.hasOwn(joined, name)) throw new Error(`two subjects have the GraphQL field ${name}`)
    joined[name] = member
  }
  return joined
}
