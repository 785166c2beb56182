import { Type } from 'typebox'
import { withTransaction, type Pool } from '../../../db/pool.ts'
import { recordAct } from '../../../db/accounts/audit-log.ts'
import { findRetention, setRetention } from '../../../db/retention/traces.ts'
import type { RestApi } from '../../accounts/rest-api.ts'
import { nullable } from '../../../lib/http/validation/nullable.ts'
import { requireProjectName } from '../project-path.ts'
import { Projects } from '../projects.ts'

export interface TraceRetentionDeps {
  pool: Pool
  /** The pool of the tracing database. */
  tracing: Pool
}

// A hundred years.
const maxDays = 36_500

const path = '/v1/preview/projects/{project}/trace-retention'
const retentionSchema = Type.Object({ days: nullable(Type.Integer({ minimum: 1, maximum: maxDays })) })

/** How long a project keeps its calls. Only this server has these paths; the hosted service does not. */
export function routeTraceRetention(api: RestApi, { pool, tracing }: TraceRetentionDeps): void {
  const projects = new Projects(tracing)

  api.get(
    path,
    { tag: 'Tracing', summary: "Get the retention of a project's calls", answer: retentionSchema },
    async ({ caller, params }) => {
      const { number } = await projects.find(caller, `${caller.entity}/${requireProjectName(params.project)}`)
      return { days: await findRetention(tracing, number) }
    },
  )

  api.put(
    path,
    {
      tag: 'Tracing',
      summary: "Set the retention of a project's calls",
      description:
        'Calls that started earlier are removed within hours, with their feedback. null means the ' +
        "administrator's default for all projects, which is forever unless it is set.",
      role: 'admin',
      body: retentionSchema,
      answer: retentionSchema,
    },
    async ({ caller, params, body: { days } }) => {
      const { entity, keyId: actor } = caller
      const subject = requireProjectName(params.project)
      const { number } = await projects.open(caller, `${entity}/${subject}`)
      // The tracing tables may be in another database, so there is no common transaction. The audit log is written
      // first: every change is logged, even if some logged changes fail.
      const act = { entity, actor, action: 'trace_retention.set', subject, details: { days } } as const
      await withTransaction(pool, (connection) => recordAct(connection, act))
      await setRetention(tracing, number, days)
      return { days }
    },
  )
}
