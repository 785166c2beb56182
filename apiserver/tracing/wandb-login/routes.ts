import { HttpError } from '../../../lib/http/http-error.ts'
import { badRequest } from '../errors.ts'
import { requireRole } from '../../accounts/keys/require-key.ts'
import type { Caller } from '../../accounts/context.ts'
import type { Projects } from '../projects.ts'
import type { TraceApi } from '../trace-api.ts'
import { graphqlAnswer, graphqlSchema, type GraphqlRequest } from './schema.ts'

/** The three GraphQL operations that clients send at start. */
export function routeGraphql(api: TraceApi, projects: Projects): void {
  api.post(
    '/graphql',
    {
      tag: 'Service',
      summary: 'Get the user, get a project, or create a project',
      description:
        'The GraphQL requests that clients send when they log in: `viewer`, `project(name:, entityName:)` and ' +
        '`upsertModel`. No other GraphQL is supported, and names are read from the variables. Errors are in ' +
        '`errors`, with status 200.',
      role: 'read',
      body: graphqlSchema,
      answer: graphqlAnswer,
    },
    async ({ caller, body }) => {
      try {
        return { data: await answerOperation(projects, caller, body) }
      } catch (error) {
        // A failure of the server, such as an unavailable database, must reach the client as a status, so that it
        // retries.
        if (error instanceof HttpError && error.status < 500) return { errors: [presentError(error)] }
        throw error
      }
    },
  )
}

/** Recognizes operations by their names: clients always send the same texts. */
async function answerOperation(projects: Projects, caller: Caller, { query, variables }: GraphqlRequest) {
  const given = variables ?? {}
  if (query.includes('upsertModel')) {
    requireRole(caller, 'member')
    const { name } = await projects.open(caller, readProjectId(caller, given['name'], given['entity']))
    return { upsertModel: { model: { name, description: null } } }
  }
  if (/\bproject\s*\(/.test(query)) {
    const projectId = readProjectId(caller, given['name'], given['entityName'])
    const { number, name } = await projects.find(caller, projectId)
    return { project: number === 0 ? null : { name } }
  }
  if (query.includes('viewer')) return { viewer: { username: caller.entity, defaultEntity: { name: caller.entity } } }
  throw badRequest('Only the queries viewer, project and upsertModel are supported')
}

function readProjectId(caller: Caller, name: unknown, entity: unknown): string {
  if (typeof name !== 'string') throw badRequest('The variables must contain the name of the project')
  return `${typeof entity === 'string' ? entity : caller.entity}/${name}`
}

/** This code makes clients report missing access. */
function presentError({ status, message }: HttpError) {
  return status === 403 ? { message, extensions: { code: 'PERMISSION_ERROR' } } : { message }
}
