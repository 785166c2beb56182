import { hash } from 'node:crypto'
import { convert, field, literal } from './expressions.ts'
import { end, equal, type Scope, post, type Probe, see, start } from './probes.ts'

/** Probes of tables. */
export const tableProbes = (scope: Scope): Probe[] => {
  const other = `${scope.project}-other`
  const table = (project: string, row: object) => post('/table/create', { table: { project_id: project, rows: [row] } })
  const shared = { shared: scope.project }
  const row = hash('sha256', `{"shared": "${scope.project}"}`, 'base64url').replaceAll('-', 'X').replaceAll('_', 'Y')
  const nothing = '0'.repeat(64)
  return [
    {
      shows: 'equal tables in two projects',
      before: [table(other, shared), table(scope.project, shared)],
      request: post('/table/query', { project_id: scope.project, digest: hash('sha256', row) }),
      see: ({ body }) => (body as { rows: unknown[] }).rows.length,
      ours: 1,
      reference: 0,
    },
    {
      shows: 'the size of a missing table',
      request: post('/table/query_stats', { project_id: scope.project, digest: nothing }),
      see: see.status,
      ours: 200,
      reference: 500,
    },
    {
      shows: 'changes to a missing table',
      request: post('/table/update', { project_id: scope.project, base_digest: nothing, updates: [] }),
      see: see.status,
      ours: 404,
      reference: 500,
    },
  ]
}

/** Probes of feedback. */
export const feedbackProbes = (scope: Scope): Probe[] => {
  const target = `weave:///${scope.project}/call/x`
  const give = (number: number, payload: object) =>
    post('/feedback/create', {
      project_id: scope.project,
      id: scope.id(number),
      weave_ref: target,
      feedback_type: 'probe',
      payload,
    })
  const find = (more: object) => post('/feedback/query', { project_id: scope.project, ...more })
  const found = ({ body }: { body: unknown }) => (body as { result: object[] }).result?.length
  return [
    {
      shows: 'numbers in feedback',
      before: [give(901, { n: 7 })],
      request: find({ query: { $expr: equal(field('payload.n'), '7') } }),
      see: found,
      ours: 1,
      reference: 0,
    },
    {
      shows: 'feedback with the same id',
      before: [give(902, {}), give(902, {})],
      request: find({ query: { $expr: equal(field('id'), scope.id(902)) } }),
      see: found,
      ours: 1,
      reference: 2,
    },
    {
      shows: 'batches with an invalid item',
      request: post('/feedback/batch/create', {
        batch: [{ project_id: scope.project, weave_ref: target, feedback_type: 'wandb.note.1', payload: {} }],
      }),
      see: see.status,
      ours: 422,
      reference: 400,
    },
    {
      shows: 'a feedback offset without a limit',
      request: find({ offset: 1 }),
      see: see.status,
      ours: 200,
      reference: 500,
    },
    {
      shows: '$convert in feedback',
      request: find({ query: { $expr: { $gt: [convert('payload.n', 'int'), literal(6)] } } }),
      see: see.status,
      ours: 200,
      reference: 500,
    },
    {
      shows: 'null in feedback',
      request: find({ query: { $expr: { $and: [equal(field('id'), scope.id(901)), equal(field('creator'), null)] } } }),
      see: found,
      ours: 1,
      reference: 0,
    },
    {
      shows: 'sorting feedback by its payload',
      request: find({ sort_by: [{ field: 'payload.n', direction: 'asc' }] }),
      see: see.status,
      ours: 200,
      reference: 500,
    },
    {
      shows: 'unknown fields of feedback',
      request: find({ fields: ['colour'] }),
      see: see.status,
      ours: 403,
      reference: 400,
    },
  ]
}

/** Probes of threads, costs and project statistics. */
export const otherProbes = (scope: Scope): Probe[] => {
  const turn = (number: number, thread_id: string, started_at = '2026-03-02T08:00:00Z') =>
    start(scope, number, { thread_id, turn_id: scope.id(number), started_at })
  const threads = (more: object) => post('/threads/stream_query', { project_id: scope.project, ...more })
  return [
    {
      shows: 'durations of turns',
      before: [turn(951, 'a'), end(scope, 951)],
      request: threads({ filter: { thread_ids: ['a'] } }),
      see: see.member('0', 'p50_turn_duration_ms'),
      ours: 10_000,
      reference: -1,
    },
    {
      shows: 'turns outside of the requested times',
      before: [turn(953, 'c'), turn(954, 'c', '2026-03-02T09:00:00Z'), end(scope, 954)],
      request: threads({ filter: { thread_ids: ['c'], after_datetime: '2026-03-02T08:30:00Z' } }),
      see: see.member('0', 'first_turn_id'),
      ours: scope.id(954),
      reference: scope.id(953),
    },
    {
      shows: 'deleted turns',
      before: [
        turn(952, 'b'),
        end(scope, 952),
        post('/calls/delete', { project_id: scope.project, call_ids: [scope.id(952)] }),
      ],
      request: threads({ filter: { thread_ids: ['b'] } }),
      see: ({ body }) => (body as unknown[]).length,
      ours: 0,
      reference: 1,
    },
    {
      shows: 'pages of threads',
      before: [turn(955, 'd'), turn(956, 'e'), end(scope, 956)],
      request: threads({
        filter: { thread_ids: ['d', 'e'] },
        sort_by: [{ field: 'thread_id', direction: 'asc' }],
        limit: 1,
      }),
      see: see.member('0', 'thread_id'),
      ours: 'e',
      reference: undefined,
    },
    {
      shows: 'a thread offset without a limit',
      request: threads({ offset: 1 }),
      see: see.status,
      ours: 200,
      reference: 500,
    },
    {
      shows: 'costs',
      request: post('/cost/create', {
        project_id: scope.project,
        costs: { model: { prompt_token_cost: 1, completion_token_cost: 2 } },
      }),
      see: see.status,
      ours: 200,
      reference: 500,
    },
    {
      shows: 'sizes of projects',
      request: post('/project/stats', { project_id: scope.project }),
      see: see.status,
      ours: 200,
      reference: 500,
    },
  ]
}
