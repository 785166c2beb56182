import { errors, limitErrors } from '../../errors/table.ts'
import type { ErrorDefinition, LimitErrorDefinition } from '../../../lib/http/error-table.ts'
import type { RequestState } from '../context.ts'
import { memoryPlan } from './memory-plan.ts'

const mib = 1024 * 1024
const { concurrency_limit_exceeded, memory_limit_exceeded, rate_limit_exceeded, server_busy } = limitErrors

/** A limit. Every answer 429 or 503 comes from one of them. docs/limits.md is generated from all tables here. */
export interface Limit {
  /** What it bounds, as in "too many searches of acme". */
  what: string
  /** Why it exists, and why it is that large. */
  reason: string
  /** Undefined: nobody gets one, because nothing is rejected. */
  error?: ErrorDefinition | LimitErrorDefinition | undefined
  /** Of some of its answers. */
  otherError?: LimitErrorDefinition
  retryAfterSeconds?: number
}

/** Work of which each process does only so much at once. Others wait for a permit, in turn. */
export interface PermitLimit extends Limit {
  retryAfterSeconds: number
  /** In one process. Infinity: only the entity's own limit counts. */
  permits: number | { perTraceConnection: number }
  /** The part of the permits that one entity may hold. */
  share: number
  /** How long somebody waits for a permit. Infinity: until one is free. 0: not at all. */
  waitMs: number
  /** The entity's own limit of permits. */
  ownLimit?: keyof RequestState['limits']
  /** A body of at most so many bytes needs no permit. */
  freeBodyBytes?: number
  /** `body`: a request holds its permit until its body has arrived. Otherwise it holds it until the end of its answer. */
  heldFor?: 'body'
}

/** Names of permits, as operations and services use them. */
export type PermitName = keyof typeof permitLimits

const defaults = { share: 1, waitMs: Infinity, retryAfterSeconds: 1, error: concurrency_limit_exceeded }

/** Limits of work at the same time. */
export const permitLimits = definePermits({
  concurrent_streams: {
    ...defaults,
    what: 'concurrent chats',
    permits: Infinity,
    waitMs: 0,
    ownLimit: 'concurrentStreams',
    reason: 'A chat keeps a connection to an engine. Completions, responses, embeddings and `/tokenize` count too.',
  },
  event_streams: {
    ...defaults,
    what: 'open event streams',
    permits: Infinity,
    waitMs: 0,
    ownLimit: 'eventStreams',
    reason: 'A client that follows or waits for events of jobs keeps a connection.',
  },
  uploads: {
    ...defaults,
    what: 'uploads',
    permits: 64,
    share: 1 / 4,
    waitMs: 60_000,
    freeBodyBytes: 4 * mib,
    heldFor: 'body',
    retryAfterSeconds: 10,
    reason: 'Large bodies are written to the disk as they arrive. They wait before their first byte is read.',
  },
  trace_streams: {
    ...defaults,
    what: 'streams of traces',
    permits: { perTraceConnection: 3 / 4 },
    share: 1 / 3,
    waitMs: 5_000,
    reason:
      'An answer that is read as fast as its client receives it holds a connection to Postgres. A page takes less time: only slow clients hold one for longer. The other connections are for short queries.',
  },
  trajectory_searches: {
    ...defaults,
    what: 'searches',
    permits: 2,
    share: 1 / 2,
    reason: 'A search has up to 16 MiB of payloads in memory.',
  },
  token_reads: {
    ...defaults,
    what: 'reads of token statistics',
    permits: 2,
    share: 1 / 2,
    reason: 'A column of a row group has some megabytes, and takes some milliseconds.',
  },
  run_reads: {
    ...defaults,
    what: 'reads of runs',
    permits: 4,
    share: 1 / 2,
    reason:
      'A filter is computed for each run of a project, and a sample for each line of a run. Others must still get connections to Postgres.',
  },
  file_joins: {
    ...defaults,
    what: 'files that are joined from parts',
    permits: 4,
    share: 1 / 2,
    reason:
      'Joining reads and writes all bytes of a file. Clients repeat the request if the answer takes longer than they wait.',
  },
  file_digests: {
    ...defaults,
    what: 'files whose MD5 is computed',
    permits: 2,
    share: 1 / 2,
    reason: 'Files that were uploaded by their SHA-256 are read once. A file of 5 GiB takes a few seconds.',
  },
  base_model_creations: {
    ...defaults,
    what: 'base models that are made',
    permits: 4,
    share: 1 / 4,
    waitMs: 15_000,
    error: errors.base_model_not_made,
    retryAfterSeconds: 10,
    reason: 'Each may wait for the hub, and then for kube-apiserver with a connection to Postgres.',
  },
  annotation_checks: {
    ...defaults,
    what: 'annotations that are checked',
    permits: 120,
    share: 1 / 2,
    waitMs: 0,
    retryAfterSeconds: 10,
    reason: 'With hostile schemas these take both threads a minute, with others almost no time.',
  },
  key_lookups: {
    ...defaults,
    what: 'unknown keys that are looked up',
    permits: 4,
    error: server_busy,
    reason: 'They share so many connections to Postgres. Keys that were valid before do not wait behind them.',
  },
  waiting_key_lookups: {
    ...defaults,
    what: 'unknown keys that wait for their lookup',
    permits: 4_000,
    share: 1 / 2,
    waitMs: 0,
    error: server_busy,
    reason:
      'The queue takes a few seconds. The share is that of an address, or of a /64 network of IPv6: all clients behind a proxy have the same one.',
  },
  chat_traces: {
    ...defaults,
    what: 'chats that wait to be recorded',
    permits: 512,
    share: 1 / 4,
    waitMs: 0,
    error: undefined,
    reason: 'A chat beyond it is answered and not recorded. The log counts such chats.',
  },
  chat_trace_builds: {
    ...defaults,
    what: 'chats that are parsed to be recorded',
    permits: 1,
    error: undefined,
    reason: 'They are parsed between other requests.',
  },
})

/** The memory of one process. */
export interface MemoryLimit extends Limit {
  bytes: number
  /** The part of one entity. */
  share: number
}

/** A budget without room rejects a request for a moment. Clients send it again. */
export const memoryLimits = {
  request_memory: {
    what: 'bytes of memory for requests',
    bytes: memoryPlan.requests.bytes,
    share: 1 / 4,
    error: server_busy,
    otherError: memory_limit_exceeded,
    retryAfterSeconds: 1,
    reason:
      'Bodies, the values that they are parsed into, and answers. A single request of an entity may have seven eighths. 429 (`memory_limit_exceeded`) is for the share, 413 for one request.',
  },
  chat_trace_memory: {
    what: 'bytes of chats that are recorded',
    bytes: memoryPlan.chatTraces.bytes,
    share: 1 / 4,
    reason: 'A part of the memory for requests. A chat beyond it is answered and not recorded.',
  },
} satisfies Record<string, MemoryLimit>

/** Points that are used up in a minute. */
export interface PointLimit extends Limit {
  /** Prefix of its counts in Postgres, which all processes share. */
  keyPrefix: string
  /** A process takes 1 / `blocksPerLimit` of the limit from Postgres at once, and may leave that much unused. */
  blocksPerLimit: number
  /** The same for all entities; undefined: each entity has its own. */
  perMinute?: number
}

export const pointLimits = {
  requests_per_minute: {
    what: 'requests',
    keyPrefix: 'minute',
    blocksPerLimit: 200,
    error: rate_limit_exceeded,
    reason: 'Limits below 400 are exact.',
  },
  tokens_per_minute: {
    what: 'tokens of chats, of prompts and sampled',
    keyPrefix: 'tokens',
    blocksPerLimit: 50,
    error: rate_limit_exceeded,
    reason: 'The use of a chat is known at its end. An estimate is taken before, and the difference becomes a debt.',
  },
  base_model_names: {
    what: 'new names of base models',
    keyPrefix: 'base-model',
    blocksPerLimit: 10,
    perMinute: 10,
    error: rate_limit_exceeded,
    reason: 'A team adds a few base models in a day. The hub limits requests by address, which all entities share.',
  },
} satisfies Record<string, PointLimit>

/** What is counted and not given back by itself, and what a process waits for. */
export const otherLimits = {
  wrong_logins: {
    what: 'wrong keys or codes of logins in a minute, by address, in each process',
    most: 120,
    error: limitErrors.login_rate_exceeded,
    reason:
      'Keys and codes cannot be guessed, so a right one always counts: all clients behind a proxy have one address.',
  },
  queued_jobs: {
    what: 'unfinished training jobs of an entity',
    error: limitErrors.job_limit_exceeded,
    // A job takes from seconds to hours. This is often enough to start soon, and seldom enough to cost little.
    retryAfterSeconds: 15,
    reason: 'Jobs that were created with kubectl count, but are never rejected.',
  },
  stored_bytes: {
    what: 'stored bytes of an entity',
    error: errors.quota_exceeded,
    otherError: limitErrors.run_storage_full,
    reason:
      'Waiting does not help, so the answer is a 403. It is a 429 for lines and files of running runs, which the wandb SDK drops after a 403.',
  },
  gpu_seconds_per_day: {
    what: 'GPU seconds of training of an entity on a day (UTC)',
    reason: 'Jobs are accepted, and wait with the reason `GpuSecondsUsed`. See [keys](keys.md#gpu-seconds).',
  },
  pending_artifacts: {
    what: 'artifacts of an entity that are being uploaded',
    most: 1_000,
    error: concurrency_limit_exceeded,
    retryAfterSeconds: 60,
    reason: 'A client has one for each artifact. Those that are not committed within a day are removed.',
  },
  held_requests: {
    what: 'requests that wait because no engine of their model is ready',
    error: errors.engine_unavailable,
    retryAfterSeconds: 5,
    reason:
      'TRAINYARD_HOLD_REQUESTS in a process, for TRAINYARD_HOLD_SECONDS. Beyond it, the newest request of the entity that holds the most is rejected.',
  },
  database: {
    what: 'connections to Postgres of a process',
    error: errors.database_unavailable,
    retryAfterSeconds: 1,
    reason: 'One entity gets at most half of them. A request waits five seconds for one, or Postgres does not answer.',
  },
  artifact_store: {
    what: 'the artifact store',
    error: errors.store_unavailable,
    retryAfterSeconds: 10,
    reason: 'It does not answer, or it is full.',
  },
  kept_answers: {
    what: 'answers that are kept for their Idempotency-Key',
    error: errors.answer_expired,
    retryAfterSeconds: 1,
    reason: 'An answer is kept for a day. It expired while the repeated request arrived.',
  },
  webhook_key: {
    what: 'the key that encrypts secrets of webhooks',
    error: errors.webhook_key_missing,
    reason: 'The installation has none.',
  },
} satisfies Record<string, Limit & { most?: number }>

/** All limits by their names. */
export const allLimits = { ...permitLimits, ...memoryLimits, ...pointLimits, ...otherLimits }
export type LimitName = keyof typeof allLimits

function definePermits<const Name extends string>(rows: Record<Name, PermitLimit>): Record<Name, PermitLimit> {
  return rows
}
