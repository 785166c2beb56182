import { Type } from 'typebox'
import type { LogLine } from '../../../../db/jobs/logs.ts'
import type { QueueDeps } from '../../../../db/jobs/queue-blocks.ts'
import type { RestApi } from '../../../accounts/rest-api.ts'
import type { RequestContext } from '../../../accounts/context.ts'
import { listOf, presentPage } from '../../../../lib/http/page.ts'
import { listLogOfJob } from './service.ts'
import { presentLogLine, presentLogText } from '../present.ts'
import { logLineSchema, logListQuery } from '../schema.ts'

const text = 'text/plain'

export function routeJobLogs(api: RestApi, deps: QueueDeps): void {
  api.get(
    '/v1/preview/training-jobs/{training_job_id}/logs',
    {
      tag: 'Training jobs',
      summary: "Get the log of a training job's attempt",
      description:
        'The default is the newest attempt. With `Accept: text/plain`, the answer is lines of text. The log of ' +
        'each attempt has a maximum size, and contains no secrets.',
      query: logListQuery,
      answer: listOf(logLineSchema),
      otherAnswers: { [text]: Type.String() },
    },
    async ({ ctx, caller, params, query }) => {
      const lines = await listLogOfJob(deps, caller.entity, { jobId: params.training_job_id, query })
      if (ctx.accepts('json', text) === text) return answerText(ctx, lines.slice(0, query.limit))
      return presentPage(lines, query.limit, presentLogLine)
    },
  )
}

function answerText(ctx: RequestContext, lines: LogLine[]): void {
  ctx.type = text
  ctx.body = presentLogText(lines)
}
