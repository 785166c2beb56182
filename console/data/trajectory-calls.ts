import { queryOptions } from '@tanstack/react-query'
import {
  matchCalls,
  writeAnswersRequest,
  type Answer,
  type AnswerCall,
  type RunChat,
} from '../logic/trajectory-calls.ts'
import { readCalls, type CallsQuery } from './calls.ts'
import { callApi, type Answer as ApiAnswer } from './client.ts'
import { runQuery } from './models.ts'

// More calls say the same only where an answer is very short.
const maxCalls = 50

/** The request for the calls that may be the chats of a trajectory. */
export function answersBody(answers: readonly Answer[], createdAt: string, projectId: string): CallsQuery | undefined {
  const request = writeAnswersRequest(answers, createdAt, projectId)
  if (!request) return undefined
  const columns = ['id', 'trace_id', 'op_name', 'display_name', 'started_at', 'ended_at', 'output.choices']
  const sort_by = [{ field: 'started_at', direction: 'desc' as const }]
  return { project_id: projectId, ...request, columns, sort_by, limit: maxCalls }
}

/** The traced chats whose answers a trajectory has. */
export function answerCallsQuery(answers: readonly Answer[], createdAt: string, projectId: string) {
  const body = answersBody(answers, createdAt, projectId)
  return queryOptions({
    queryKey: ['calls', 'answers', body],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<AnswerCall[]> =>
      body ? matchCalls(answers, await readCalls(body, signal)) : [],
  })
}

const matches = 'GET /v1/preview/models/{model_id}/trajectory-matches'

export type ChatTrajectory = ApiAnswer<typeof matches>['data'][number]

/** The trajectories that have the prompt and the answer of a traced chat, and are younger. */
export function chatTrajectoriesQuery({ project, run, prompt, text, startedAt }: RunChat) {
  return queryOptions({
    queryKey: ['calls', 'trajectories', project, run, prompt, text],
    queryFn: async ({ signal, client }): Promise<ChatTrajectory[]> => {
      const { id } = await client.fetchQuery(runQuery(project, run))
      const hash = await hashPrompt(prompt)
      const query = { text, order: 'desc' as const, limit: 500, ...(hash !== undefined && { prompt_hash: hash }) }
      const { data } = await callApi(matches, { path: { model_id: id }, query, signal })
      return data.filter(({ created_at: createdAt }) => Date.parse(createdAt) > Date.parse(startedAt))
    },
  })
}

/** The `prompt_hash` of trajectories with this prompt. Browsers compute none for a page of plain HTTP. */
async function hashPrompt(prompt: readonly unknown[]): Promise<string | undefined> {
  // oxlint-disable-next-line typescript/no-unnecessary-condition -- undefined in a page of plain HTTP
  if (!crypto.subtle) return undefined
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(JSON.stringify(prompt)))
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
