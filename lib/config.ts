import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import type { Static, TObject } from 'typebox'

/** Bad configuration. The message names the variable and the reason, never the value. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/**
 * Reads the configuration of a process from environment variables, once. Converts strings by the schema, fills in
 * defaults and freezes the result.
 *
 * @throws {ConfigError} naming every bad or missing variable
 */
export function readConfig<S extends TObject>(schema: S, env: NodeJS.ProcessEnv): Readonly<Static<S>> {
  const ajv = new Ajv({ allErrors: true, coerceTypes: true, useDefaults: true, removeAdditional: 'all', strict: false })
  addFormats.default(ajv)
  const values: Record<string, unknown> = { ...env }
  const validate = ajv.compile(schema)
  if (!validate(values)) {
    const issues = (validate.errors ?? []).map((issue) => {
      const missing = (issue.params as { missingProperty?: string }).missingProperty
      return missing ? `${missing} is not set` : `${issue.instancePath.slice(1)} ${issue.message}`
    })
    throw new ConfigError(`bad configuration: ${issues.join('; ')}`)
  }
  return Object.freeze(values) as Readonly<Static<S>>
}
