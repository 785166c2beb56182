import type { Caller, RequestContext, RequestState } from '../../accounts/context.ts'
import type { LinkSigner } from '../links/links.ts'
import type { Arguments, GraphqlObject, GraphqlValue } from './values.ts'

/** What resolvers know about a request. */
export interface GraphqlContext {
  ctx: RequestContext
  /** The key's entity is `caller.entity`: no resolver reads anything of another one. */
  caller: Caller
  limits: RequestState['limits']
  /** Signs absolute links for the caller. */
  signLink: LinkSigner
}

/** A field of Query or Mutation. */
export type RootField = (args: Arguments, context: GraphqlContext) => GraphqlValue | Promise<GraphqlValue>

/** A project of the caller's entity. Its name is one that traces may have: see `isTracedName`. */
export interface ProjectName {
  entity: string
  project: string
}

/** The part of /graphql that belongs to one subject. `openWandb` lists all of them. */
export interface GraphqlResource {
  query?: Readonly<Record<string, RootField>>
  /** Keys that may only read cannot call these. A resolver never returns null: SDKs crash on it. */
  mutation?: Readonly<Record<string, RootField>>
  /** Whether this subject has something in the project. A project exists if any of them does. */
  hasProject?: (context: GraphqlContext, name: ProjectName) => Promise<boolean>
  /** Fields of `project(name:, entityName:)`. */
  projectFields?: (context: GraphqlContext, name: ProjectName) => GraphqlObject
  /** Fields of `viewer`. */
  viewerFields?: (context: GraphqlContext) => GraphqlObject
  /** Fields of `entity(name:)`. */
  entityFields?: (context: GraphqlContext) => GraphqlObject
  /** What `__type(name:)` answers, by name: older SDKs ask which fields there are. */
  types?: Readonly<Record<string, GraphqlObject>>
  /** Names of features that `serverInfo` announces. */
  features?: readonly string[]
}
