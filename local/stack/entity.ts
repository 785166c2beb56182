import { Problem } from '../problem.ts'

// The same as in the Model resource.
const pattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

// These begin addresses of the service or of its console.
const reserved = new Set(
  (
    'v1 v2 api graphql traces call calls obj objs table tables file files cost feedback refs threads otel agents ' +
    'completions annotation_queues tags aliases project service health server_info oidc metrics assets static login ' +
    'logout authorize settings admin console docs'
  ).split(' '),
)

/** @throws {Problem} when an entity cannot have this name */
export function requireEntity(name: string): void {
  if (!pattern.test(name)) {
    throw new Problem(
      `"${name}" cannot be the name of an entity: letters, digits, dots, dashes and underscores only, at most 128, ` +
        'a letter or digit first.',
    )
  }
  if (reserved.has(name.toLowerCase())) throw new Problem(`"${name}" is reserved; give the entity another name.`)
}
