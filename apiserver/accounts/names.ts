import { Type } from 'typebox'

// The same pattern as in the Model resource. Names fit into `entity/project/name:stepN` addresses, and into keys of the
// artifact store, which have no two dots in a row.
export const namePattern = '^[A-Za-z0-9](\\.?[A-Za-z0-9_-])*\\.?$'
const maxLength = 128
const maxTracedLength = 256
const description = 'letters, digits, dots, underscores and dashes; the first character must be a letter or a digit'

const modelNamePart = namePattern.slice(1, -1)
const modelReferencePattern = `^(wandb-artifact:///)?(${modelNamePart}/){0,2}${modelNamePart}$`
const modelReferenceExpression = new RegExp(modelReferencePattern)
/** What refers to a model. */
export const modelReferenceDescription =
  'the id of a model, or its name: ENTITY/PROJECT/NAME, PROJECT/NAME, or NAME if only one project has it'

/** The schema of what refers to a model: its id, or its name. `findModelId` finds its id. */
export const modelIdSchema = Type.String({
  pattern: modelReferencePattern,
  maxLength: 512,
  description: modelReferenceDescription,
})

/** The schema of the name of an entity, a project or a model. */
export const nameSchema = Type.String({ pattern: namePattern, minLength: 1, maxLength, description })

/** The project of models that were created without one. */
export const defaultProject = 'default'

// Addresses of the service begin with these.
const reservedEntities = new Set(
  (
    'v1 v2 api graphql traces call calls obj objs table tables file files cost feedback refs threads otel agents ' +
    'completions annotation_queues artifactsv2 tags aliases project service health server_info oidc metrics assets static ' +
    'console docs openapi.json chat models responses embeddings tokenize detokenize'
  ).split(' '),
)
// Pages of the console that belong to no entity.
const consolePages = new Set(['login', 'logout', 'authorize', 'settings', 'admin'])

const nameExpression = new RegExp(namePattern)

/** Whether a text can be the name of an entity, a project or a model. */
export function isName(text: string): boolean {
  return text.length <= maxLength && nameExpression.test(text)
}

/**
 * Whether a project of traces, or its entity, can have this name. Tracing clients use more names than those of models.
 */
export function isTracedName(name: string): boolean {
  return name !== '' && name.length <= maxTracedLength && !name.includes('\0') && name.isWellFormed()
}

/** Whether a text may refer to a model, by its id or its name. */
export function isModelReference(text: string): boolean {
  return modelReferenceExpression.test(text)
}

export function isReservedEntity(name: string): boolean {
  return reservedEntities.has(name.toLowerCase()) || consolePages.has(name.toLowerCase())
}

/** Whether the first part of a path is that of a page of the console: its own, or an entity's. */
export function isConsolePage(first: string): boolean {
  return !reservedEntities.has(first.toLowerCase())
}

/**
 * Generates a name for a model without one. It is derived from the id, so that a repeated request gets the same name.
 */
export function generateModelName(id: string): string {
  return `model-${id.replaceAll('-', '').slice(-10)}`
}
