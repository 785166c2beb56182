import { ConfigError } from '../lib/config.ts'
import { httpErrors } from '../lib/http/errors.ts'
import { HttpError } from '../lib/http/http-error.ts'
import type Koa from 'koa'

/** The groups of operations that a server may be started without. Keys, limits, usage and health are in every server. */
export const groupNames = ['training', 'inference', 'tracing', 'console'] as const
export type GroupName = (typeof groupNames)[number]
export type Groups = ReadonlySet<GroupName>

// A client can request any path.
const maxShownLength = 200

/** Paths of groups, for servers that have not loaded them. The first pattern that matches counts. All groups are needed. */
const paths: [RegExp, readonly GroupName[]][] = [
  [/^\/(v1\/links|artifactsv2)(\/|$)/, ['training']],
  [/^(\/traces)?\/completions(\/|$)/, ['tracing', 'inference']],
  [/^\/files\/[^/]+\/[^/]+\/[^/]+\/(file_stream|run_files)(\/|$)/, ['training']],
  [/^\/(traces|v2|calls?|objs?|tables?|files?|cost|feedback|refs|threads|otel|agents|tags|aliases)(\/|$)/, ['tracing']],
  [/^\/(project|service|server_info|health)(\/|$)/, ['tracing']],
  [/^\/(actions|annotation_queues|dataset_sources|evaluations|image|trace)(\/|$)/, ['tracing']],
  [/^\/v1\/preview\/projects\/[^/]+\/(trace-retention|calls)(\/|$)/, ['tracing']],
  [/^\/v1\/preview\/models\/[^/]+\/to-dataset(\/|$)/, ['tracing', 'training']],
  [/^\/v1\/preview\/(models|artifacts|runs|([a-z]+-)?training-jobs|stream|webhooks)(\/|$)/, ['training']],
  [/^\/v1\/preview\/(entities|projects|erasures)(\/|$)/, ['training']],
  [/^\/v1\/(chat|completions|embeddings|responses|models)(\/|$)/, ['inference']],
  [/^(\/v1)?\/(de)?tokenize(\/|$)/, ['inference']],
  [/^\/assets(\/|$)/, ['console']],
]

/** Reads names that are separated by commas. @throws {ConfigError} */
export function readGroups(text: string): Groups {
  const names = text.split(',').map((name) => name.trim())
  const known = groupNames.filter((name) => names.includes(name))
  if (names.every((name) => known.some((each) => each === name))) return new Set(known)
  throw new ConfigError(
    `bad configuration: TRAINYARD_GROUPS must be one or more of ${groupNames.join(', ')}, separated by commas`,
  )
}

// Each of these groups answers there what concerns it: runs and artifacts, or projects of traces.
const graphql = /^(\/traces)?\/graphql(\/|$)/
const graphqlGroups = ['training', 'tracing'] as const

/** The group without which a server does not have a path; undefined if the path is of none. */
export function findMissingGroup(groups: Groups, path: string): GroupName | undefined {
  if (graphql.test(path.toLowerCase()))
    return graphqlGroups.some((name) => groups.has(name)) ? undefined : graphqlGroups[0]
  const needed = paths.find(([pattern]) => pattern.test(path.toLowerCase()))?.[1]
  return needed?.find((name) => !groups.has(name))
}

/**
 * The group of a path as metrics name it: `shared` for those of keys, limits, usage and health, for GraphQL of several
 * groups, and for unknown ones.
 */
export function findGroup(path: string): GroupName | 'shared' {
  if (graphql.test(path.toLowerCase())) return 'shared'
  return paths.find(([pattern]) => pattern.test(path.toLowerCase()))?.[1][0] ?? 'shared'
}

/** Answers 404 to paths of groups that this server does not have. It comes before keys, which groups read differently. */
export function rejectMissingGroups(groups: Groups): Koa.Middleware {
  return (ctx, next) => {
    const missing = findMissingGroup(groups, ctx.path)
    if (!missing) return next()
    throw new HttpError(
      httpErrors.unknown_path,
      `${ctx.method} ${ctx.path.slice(0, maxShownLength)} does not exist here, because this server does not serve the ` +
        `group ${missing}. Send the request to a server that does, or ask an administrator to add ${missing} to ` +
        'apiserver.groups (TRAINYARD_GROUPS).',
    )
  }
}
