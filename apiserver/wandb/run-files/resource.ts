import { notFound } from '../../../lib/http/http-error.ts'
import { isUuid } from '../../../lib/http/validation/compile.ts'
import { deleteRunFiles } from '../../../db/runs/files.ts'
import { findRun } from '../../../db/runs/find.ts'
import type { Pool } from '../../../db/pool.ts'
import { readObject, readTexts, requireText } from '../graphql/arguments.ts'
import type { GraphqlContext, GraphqlResource } from '../graphql/resource.ts'
import { readProject } from '../graphql/roots.ts'
import type { Arguments, GraphqlObject } from '../graphql/values.ts'
import { isFilePath, targetOf } from './paths.ts'

const maxFiles = 10_000

/** Files of runs: links for uploads, and deletion. */
export function createRunFilesResource({ pool }: { pool: Pool }): GraphqlResource {
  return {
    mutation: {
      createRunFiles: (args, context) => createRunFiles(pool, readObject(args, 'input'), context),
      markRunFilesUploaded: () => ({ success: true }),
      deleteFiles: async (args, { caller }) => {
        const ids = readTexts(readObject(args, 'input'), 'files', maxFiles).filter(isUuid)
        return { success: (await deleteRunFiles(pool, caller.entity, ids)) === ids.length }
      },
    },
  }
}

/** Signs links. A file exists when its bytes have arrived. */
async function createRunFiles(pool: Pool, input: Arguments, context: GraphqlContext): Promise<GraphqlObject> {
  const { entity, project } = readProject(input, context, 'projectName')
  const name = requireText(input, 'runName')
  const run = await findRun(pool, { entity, project, name })
  if (!run) throw notFound('Run', name)
  const paths = readTexts(input, 'files', maxFiles).filter(isFilePath)
  return {
    runID: run.id,
    uploadHeaders: [],
    files: paths.map((path) => ({
      __typename: 'File',
      name: path,
      uploadUrl: context.signLink(targetOf('PUT', run, path)),
    })),
  }
}
