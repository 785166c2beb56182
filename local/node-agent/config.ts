import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { Type, type Static } from 'typebox'

const path = Type.String({ minLength: 1 })

const imageSchema = Type.Object(
  {
    cwd: path,
    path: Type.Array(path),
    env: Type.Record(Type.String(), Type.String()),
  },
  { additionalProperties: false },
)

const configSchema = Type.Object(
  {
    kubeconfig: path,
    stateDir: path,
    nodeName: Type.String({ pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$' }),
    /** The first two octets of the pods' addresses. */
    podNetwork: Type.String({ pattern: '^127\\.[0-9]{1,3}$' }),
    kubeletPort: Type.Integer({ minimum: 1, maximum: 65535 }),
    kubeletCert: path,
    kubeletKey: path,
    /** Clients with a certificate of this authority may read logs. Without it, no client may. */
    kubeletClientCA: Type.Optional(path),
    kubernetesHost: Type.String({ minLength: 1 }),
    kubernetesPort: Type.Integer({ minimum: 1, maximum: 65535 }),
    images: Type.Record(Type.String(), imageSchema),
    logLevel: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
)

/** The configuration of a node agent, read once from a JSON file. */
export type AgentConfig = Static<typeof configSchema>

/** The local form of an image: a working folder, PATH folders and environment variables. */
export type LocalImage = Static<typeof imageSchema>

/**
 * Reads the configuration file.
 *
 * @throws Error naming the bad fields, never their values
 */
export function readAgentConfig(file: string): AgentConfig {
  const values: unknown = JSON.parse(readFileSync(file, 'utf8'))
  const ajv = new Ajv({ allErrors: true })
  if (!ajv.validate(configSchema, values)) {
    throw new Error(`bad configuration in ${file}: ${ajv.errorsText(ajv.errors, { dataVar: '' })}`)
  }
  return values as AgentConfig
}
