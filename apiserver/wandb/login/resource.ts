import { readObject } from '../graphql/arguments.ts'
import { readProject } from '../graphql/roots.ts'
import type { GraphqlResource } from '../graphql/resource.ts'
import type { Projects } from '../../tracing/projects.ts'

/** Projects of traces. weave looks for its project at its start, and creates it if it does not exist. */
export function createLoginResource(projects: Projects): GraphqlResource {
  return {
    mutation: {
      upsertModel: async (args, { caller, ...context }) => {
        const { entity, project } = readProject(readObject(args, 'input'), { caller, ...context })
        const { name } = await projects.open(caller, `${entity}/${project}`)
        return {
          model: { __typename: 'Project', id: `${entity}/${name}`, name, entityName: entity, description: null },
        }
      },
    },
    hasProject: async ({ caller }, { entity, project }) => {
      const { number } = await projects.find(caller, `${entity}/${project}`)
      return number !== 0
    },
  }
}
