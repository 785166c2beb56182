import { Type, type Static } from 'typebox'
import { artifactSettings } from '../artifacts/store/settings.ts'
import { databaseSettings, tracingDatabaseSettings } from '../db/address.ts'
import { connectionsSetting } from '../db/connection-settings.ts'
import { ConfigError, readConfig } from '../lib/config.ts'
import { createPublicBase, type FindPublicBase } from '../lib/http/public-base.ts'
import { keySettings, withKeyFiles } from '../lib/key-files.ts'
import { sealingKeySettings } from '../lib/sealing/settings.ts'
import { kubeSettings } from '../lib/kube/access.ts'
import { metricsSettings } from '../lib/metrics/metrics-server.ts'
import { outboundSettings } from '../lib/outbound/settings.ts'
import { groupNames } from './groups.ts'
import { limitSettings } from './accounts/limits/settings.ts'

const schema = Type.Object({
  TRAINYARD_PORT: Type.Integer({ minimum: 1, maximum: 65535, default: 8080 }),
  ...databaseSettings,
  ...tracingDatabaseSettings,
  // Of training, inference, tracing and console, those that this server serves; separated by commas.
  TRAINYARD_GROUPS: Type.String({ default: groupNames.join(',') }),
  // The built console. By default it lies beside the apiserver.
  TRAINYARD_CONSOLE_FOLDER: Type.Optional(Type.String({ minLength: 1 })),
  // Enough for many concurrent chats. Each of them needs two short queries.
  TRAINYARD_DATABASE_CONNECTIONS: connectionsSetting(10),
  // A slow reader of traces holds one of them; see trace_streams in accounts/limits/table.ts.
  TRAINYARD_TRACING_CONNECTIONS: connectionsSetting(8),
  // Two connections write calls, many at a time. The others look up projects, which is fast. No read holds one of them
  // for longer.
  TRAINYARD_TRACE_WRITE_CONNECTIONS: connectionsSetting(3, 3),
  // A file with prices of models' tokens: LiteLLM's public file, or one in weave's format.
  TRAINYARD_TRACING_PRICES: Type.Optional(Type.String({ minLength: 1 })),
  ...artifactSettings,
  ...outboundSettings,
  // Base models that are made when somebody creates a model from them, as JSON; see training/base-models/defaults.ts.
  TRAINYARD_BASE_MODEL_DEFAULTS: Type.Optional(Type.String({ minLength: 1 })),
  // The hub of models, under the name that its own library reads.
  HF_ENDPOINT: Type.String({ pattern: '^https?://[^/?#@]+(/[^?#]*)?$', default: 'https://huggingface.co' }),
  // The address that clients use, for absolute links: https://HOST[:PORT][/PATH].
  TRAINYARD_PUBLIC_URL: Type.Optional(Type.String({ pattern: '^https?://[^/?#@\\s]+(/[^?#\\s]*)?$' })),
  // Addresses and networks of proxies whose X-Forwarded-Proto and X-Forwarded-Host count, and whose connections have no
  // share, separated by commas.
  TRAINYARD_TRUSTED_PROXIES: Type.String({ default: '' }),
  TRAINYARD_NAMESPACE: Type.String({ minLength: 1 }),
  // The key is sent in a header unchanged.
  TRAINYARD_ENGINE_KEY: Type.String({ minLength: 1, pattern: '^[!-~]+$' }),
  // Engines that were started before the key was changed take only this one.
  TRAINYARD_PREVIOUS_ENGINE_KEY: Type.Optional(Type.String({ minLength: 1, pattern: '^[!-~]+$' })),
  ...sealingKeySettings,
  ...keySettings,
  ...kubeSettings,
  // 32 groups of 16 rollouts of 2,000 tokens with logprobs need about 100 MB.
  TRAINYARD_BODY_LIMIT_BYTES: Type.Integer({ minimum: 1024, maximum: 512 * 1024 * 1024, default: 256 * 1024 * 1024 }),
  ...limitSettings,
  // Interactive clients wait this long for a chat.
  TRAINYARD_HOLD_SECONDS: Type.Integer({ minimum: 0, maximum: 3_600, default: 600 }),
  TRAINYARD_HOLD_REQUESTS: Type.Integer({ minimum: 0, maximum: 8_000, default: 1_000 }),
  TRAINYARD_HOST: Type.String(),
  ...metricsSettings,
  // How long responses may continue after SIGTERM.
  TRAINYARD_DRAIN_SECONDS: Type.Integer({ minimum: 1, maximum: 3_600, default: 8 }),
  LOG_LEVEL: Type.String({ default: 'info' }),
})

export type Config = Readonly<Static<typeof schema>>

/** Reads the apiserver's configuration from environment variables. @throws {ConfigError} */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  return readConfig(schema, withKeyFiles(env))
}

/** The keys that engines may ask for, the current one first. */
export function listEngineKeys(config: Config): string[] {
  return [config.TRAINYARD_ENGINE_KEY, config.TRAINYARD_PREVIOUS_ENGINE_KEY].filter((key) => key !== undefined)
}

/** Addresses and networks of proxies. */
export function listTrustedProxies(config: Config): string[] {
  const networks = config.TRAINYARD_TRUSTED_PROXIES.split(',').map((network) => network.trim())
  return networks.filter((network) => network !== '')
}

/** Finds the base of absolute links. @throws {ConfigError} for a bad network */
export function openPublicBase(config: Config): FindPublicBase {
  try {
    return createPublicBase({ publicUrl: config.TRAINYARD_PUBLIC_URL, trustedProxies: listTrustedProxies(config) })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new ConfigError(
      'bad configuration: TRAINYARD_TRUSTED_PROXIES must be addresses or networks, such as 10.0.0.0/8',
    )
  }
}
