import { badRequest } from '../refusals.ts'

/** What stands in place of `{name}` in the texts of messages. */
export type TemplateVars = Record<string, unknown>

/**
 * Messages with variables in their texts, in those of their parts too. As in Python's format: `{{` and `}}` are braces.
 *
 * @throws {TraceRefusal} 400 for a name that is none of the variables
 */
export function fillMessages(messages: unknown[], vars: TemplateVars): unknown[] {
  return messages.map((message) => fillMembers(message, vars))
}

function fillMembers(message: unknown, vars: TemplateVars): unknown {
  if (!isObject(message)) return message
  return Object.fromEntries(Object.entries(message).map(([key, value]) => [key, fillMember(value, vars)]))
}

function fillMember(value: unknown, vars: TemplateVars): unknown {
  if (typeof value === 'string') return fillText(value, vars)
  return Array.isArray(value) && value.every(isObject) ? fillMessages(value, vars) : value
}

function fillText(text: string, vars: TemplateVars): string {
  return text.replaceAll(/\{\{|\}\}|\{([^{}]*)\}/g, (found: string, name: string | undefined) => {
    if (name === undefined) return found[0]!
    if (!Object.hasOwn(vars, name)) throw badRequest(`the template variable ${JSON.stringify(name)} is missing`)
    const value = vars[name]
    return typeof value === 'string' ? value : JSON.stringify(value)
  })
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
