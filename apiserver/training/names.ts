import { Type } from 'typebox'

// The same as in the Model resource. It fits into `entity/project/name:stepN` addresses.
const pattern = '^[A-Za-z0-9][A-Za-z0-9._-]*$'
const maxLength = 128

/** The schema of an entity's, a project's or a model's name. */
export const nameSchema = Type.String({ pattern, minLength: 1, maxLength })

/** Where models go whose maker named no project. */
export const defaultProject = 'default'

// The web console's pages have these in the place of a project: design.md, "Kept open for the console".
const reservedProjects = new Set(['usage', 'settings', 'members'])

const nameExpression = new RegExp(pattern)

/** Whether a text can be the name of an entity, a project or a model. */
export function isName(text: string): boolean {
  return text.length <= maxLength && nameExpression.test(text)
}

export function isReservedProject(name: string): boolean {
  return reservedProjects.has(name.toLowerCase())
}

/** A name for a model whose maker gave none: by its id, so that a request that is repeated gives the same. */
export function generateModelName(id: string): string {
  return `model-${id.replaceAll('-', '').slice(-10)}`
}
