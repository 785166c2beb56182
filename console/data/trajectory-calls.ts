import { queryOptions } from '@tanstack/react-query'
import {
  matchCalls,
  writeAnswersRequest,
  type AnswerCall,
  type AnswerSearch,
  type Likeness,
  type RunChat,
} from '../logic/trajectory-calls.ts'
import { readCalls } from './calls.ts'
import { callApi, type Answer as ApiAnswer } from './client.ts'
import { runQuery } from './models.ts'

// More calls say the same only where an answer is very short.
const maxCalls = 50

/** Reads the traced chats that are as like the answers as asked. */
async function findCalls(search: AnswerSearch, likeness: Likeness, signal: AbortSignal): Promise<AnswerCall[]> {
  const request = writeAnswersRequest(search, likeness)
  if (!request) return []
  const columns = ['id', 'trace_id', 'op_name', 'display_name', 'started_at', 'ended_at', 'output.choices']
  const sort_by = [{ field: 'started_at', direction: 'desc' as const }]
  const body = { project_id: search.projectId, ...request, columns, sort_by, limit: maxCalls }
  return matchCalls(search.answers, await readCalls(body, signal))
}

/** The traced chats whose answers a trajectory has. Chats without log-probabilities are searched by what they say. */
export function answerCallsQuery(search: AnswerSearch) {
  return queryOptions({
    queryKey: ['calls', 'answers', search],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<AnswerCall[]> => {
      const exact = await findCalls(search, 'exact', signal)
      const answers = search.answers.filter(({ turn }) => !exact.some((found) => found.turn === turn))
      const others = await findCalls({ ...search, answers }, 'same text', signal)
      return [...exact, ...others].toSorted((a, b) => a.turn - b.turn)
    },
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
